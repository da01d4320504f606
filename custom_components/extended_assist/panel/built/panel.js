import{a as p,b as U,c as n,d as S,e as z,f as W,g as d,h as Y,i as G,j as y,k as D,l as g,m as J,n as L,o as R,q as K,r as w,s as Q,t as X,u as b}from"./chunk-HKLEWMFQ.js";var V=Symbol.for(""),dt=i=>{if(i?.r===V)return i?._$litStatic$},tt=i=>({_$litStatic$:i,r:V});var Z=new Map,B=i=>(l,...t)=>{let e=t.length,r,s,a=[],o=[],c,h=0,v=!1;for(;h<e;){for(c=l[h];h<e&&(s=t[h],(r=dt(s))!==void 0);)c+=r+l[++h],v=!0;h!==e&&o.push(s),a.push(c),h++}if(h===e&&a.push(l[e]),v){let u=a.join("$$lit$$");(l=Z.get(u))===void 0&&(a.raw=a,Z.set(u,l=a)),t=o}return i(l,...t)},et=B(n),vt=B(S),bt=B(z);var P=class extends b{constructor(){super(...arguments);this.asked=""}async fetch(){return(await this.perform("get_facts",{},!0))?.facts??[]}async perform(t,e,r=!1){let{response:s}=await this.hass.callWS({type:"call_service",domain:"extended_assist",service:t,service_data:e,return_response:r});return s}async forget(t){await this.attempt(async()=>{await this.perform("forget",{ids:[t.id]}),this.asked="",await this.load()})}show(t){return t.length?n`${t.map(e=>n`<ha-card>
          <div class="row">
            <div>
              <h2>${e.words}</h2>
              <p class="faint">
                ${this.say(e.whose==="me"?"memory.own":"memory.household")} · ${e.said}${e.until?` · ${this.say("memory.until",{time:e.until})}`:d}
              </p>
            </div>
            <button
              aria-label=${this.say("memory.forget_this",{what:e.words})}
              @click=${()=>{this.asked=e.id}}
            >
              ${this.say("memory.forget")}
            </button>
          </div>
          ${this.asked===e.id?n`<div class="asked" role="group" aria-label=${this.say("questions.asked")}>
                <p>${this.say("memory.sure")}</p>
                <div class="bar">
                  <button class="main" @click=${()=>this.forget(e)}>${this.say("questions.yes")}</button>
                  <button @click=${()=>{this.asked=""}}>
                    ${this.say("questions.no")}
                  </button>
                </div>
              </div>`:d}
        </ha-card>`)}`:this.empty("memory.empty")}};p([g()],P.prototype,"asked",2),P=p([y("extended-assist-memory")],P);var st={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},rt=i=>(...l)=>({_$litDirective$:i,values:l}),j=class{constructor(l){}get _$AU(){return this._$AM._$AU}_$AT(l,t,e){this._$Ct=l,this._$AM=t,this._$Ci=e}_$AS(l,t){return this.update(l,t)}update(l,t){return this.render(...t)}};var{I:ft}=Y,at=i=>i;var it=()=>document.createComment(""),E=(i,l,t)=>{let e=i._$AA.parentNode,r=l===void 0?i._$AB:l._$AA;if(t===void 0){let s=e.insertBefore(it(),r),a=e.insertBefore(it(),r);t=new ft(s,a,i,i.options)}else{let s=t._$AB.nextSibling,a=t._$AM,o=a!==i;if(o){let c;t._$AQ?.(i),t._$AM=i,t._$AP!==void 0&&(c=i._$AU)!==a._$AU&&t._$AP(c)}if(s!==r||o){let c=t._$AA;for(;c!==s;){let h=at(c).nextSibling;at(e).insertBefore(c,r),c=h}}}return t},T=(i,l,t=i)=>(i._$AI(l,t),i),$t={},ot=(i,l=$t)=>i._$AH=l,nt=i=>i._$AH,C=i=>{i._$AR(),i._$AA.remove()};var lt=(i,l,t)=>{let e=new Map;for(let r=l;r<=t;r++)e.set(i[r],r);return e},ct=rt(class extends j{constructor(i){if(super(i),i.type!==st.CHILD)throw Error("repeat() can only be used in text expressions")}dt(i,l,t){let e;t===void 0?t=l:l!==void 0&&(e=l);let r=[],s=[],a=0;for(let o of i)r[a]=e?e(o,a):a,s[a]=t(o,a),a++;return{values:s,keys:r}}render(i,l,t){return this.dt(i,l,t).values}update(i,[l,t,e]){let r=nt(i),{values:s,keys:a}=this.dt(l,t,e);if(!Array.isArray(r))return this.ut=a,s;let o=this.ut??=[],c=[],h,v,u=0,f=r.length-1,m=0,$=s.length-1;for(;u<=f&&m<=$;)if(r[u]===null)u++;else if(r[f]===null)f--;else if(o[u]===a[m])c[m]=T(r[u],s[m]),u++,m++;else if(o[f]===a[$])c[$]=T(r[f],s[$]),f--,$--;else if(o[u]===a[$])c[$]=T(r[u],s[$]),E(i,c[$+1],r[u]),u++,$--;else if(o[f]===a[m])c[m]=T(r[f],s[m]),E(i,r[u],r[f]),f--,m++;else if(h===void 0&&(h=lt(a,m,$),v=lt(o,u,f)),h.has(o[u]))if(h.has(o[f])){let x=v.get(a[m]),I=x!==void 0?r[x]:null;if(I===null){let F=E(i,r[u]);T(F,s[m]),c[m]=F}else c[m]=T(I,s[m]),E(i,r[u],I),r[x]=null;m++}else C(r[f]),f--;else C(r[u]),u++;for(;m<=$;){let x=E(i,c[$+1]);T(x,s[m]),c[m++]=x}for(;u<=f;){let x=r[u++];x!==null&&C(x)}return this.ut=a,ot(i,c),W}});var q=class extends b{constructor(){super(...arguments);this.refresh=5e3}fetch(){return R(this.hass,"questions/list")}show(t){let e=t.filter(({id:s})=>!this.outcomes[s]),r=Object.keys(this.outcomes).filter(s=>!this.outcomes[s]?.question);return!e.length&&!r.length?this.empty("questions.empty"):n`
      ${ct(e,({id:s})=>s,s=>n`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${s.kind}`)} ·
              ${this.say("questions.minutes",{minutes:Math.max(1,Math.round(s.seconds/60))})}
            </p>
            ${this.outcomeOf(s.id,{done:!1,question:s})}
          </ha-card>`)}
      ${r.map(s=>n`<ha-card>${this.outcomeOf(s)}</ha-card>`)}
    `}};q=p([y("extended-assist-questions")],q);var k=class extends b{constructor(){super(...arguments);this.refresh=2**30;this.chosen=0;this.written="{}";this.busy=!1}fetch(){return R(this.hass,"tools/list")}choose(t){this.chosen=t,this.outcomes={};let{required:e=[],properties:r={}}=this.data?.[t]?.parameters??{},s={object:{},array:[],integer:0,number:0,boolean:!1},a=e.map(o=>[o,s[r[o]?.type??""]??""]);this.written=JSON.stringify(Object.fromEntries(a),null,2)}async call(t){let e;try{e=JSON.parse(this.written||"{}")}catch{e=null}if(!e||typeof e!="object"||Array.isArray(e)){this.error=this.say("tools.no_object");return}this.busy=!0,this.outcomes={};let{entry:r,name:s}=t;await this.act(s,"tools/call",{entry:r,tool:s,arguments:e}),this.busy=!1}show(t){let e=t[this.chosen];if(!e)return this.empty("tools.empty");let r=[...new Set(t.map(s=>s.entry))];return n`<ha-card>
      <label for="tool">${this.say("tools.tool")}</label>
      <select id="tool" @change=${s=>this.choose(Number(s.target.value))}>
        ${r.map(s=>n`<optgroup label=${t.find(a=>a.entry===s)?.entry_title??s}>
              ${t.map((a,o)=>a.entry===s?n`<option value=${o} ?selected=${o===this.chosen}>${a.title} (${a.name})</option>`:d)}
            </optgroup>`)}
      </select>
      <p>${e.description}</p>
      ${Object.keys(e.parameters.properties??{}).length?n`<ul>
            ${Object.entries(e.parameters.properties??{}).map(([s,a])=>n`<li>
                  <code>${s}</code>${e.parameters.required?.includes(s)?` (${this.say("tools.required")})`:d}
                  ${a.description??""}
                </li>`)}
          </ul>`:d}
      <label for="arguments">${this.say("tools.arguments")}</label>
      <textarea
        id="arguments"
        spellcheck="false"
        .value=${this.written}
        @input=${s=>{this.written=s.target.value}}
      ></textarea>
      <div class="bar">
        <button class="main" ?disabled=${this.busy} @click=${()=>this.call(e)}>${this.say("tools.call")}</button>
        ${e.read_only?d:n`<span class="faint">${this.say("tools.acts")}</span>`}
      </div>
      ${this.outcomeOf(e.name,void 0,!0)}
    </ha-card>`}};p([g()],k.prototype,"chosen",2),p([g()],k.prototype,"written",2),p([g()],k.prototype,"busy",2),k=p([y("extended-assist-tools")],k);var N=14,A=["input_tokens","cached_tokens","cache_written_tokens","output_tokens"],ht=["--color-1, #4269d0","--color-2, #f4bd4a","--color-3, #ff725c","--color-4, #6cc5b0"],ut="extended_assist_prices",pt=i=>A.reduce((l,t)=>l+(i.counts[t]??0),0),M=class extends b{constructor(){super(...arguments);this.refresh=6e4;this.saved=!1}async fetch(){let t=await R(this.hass,"usage"),{value:e}=await this.hass.callWS({type:"frontend/get_user_data",key:ut}),r=t.flatMap(o=>Object.values(o.sensors)),s=new Date;s.setDate(s.getDate()-N+1),s.setHours(0,0,0,0);let a=r.length?await this.hass.callWS({type:"recorder/statistics_during_period",start_time:s.toISOString(),statistic_ids:r,period:"day",types:["change"]}):{};return{agents:t,rows:a,prices:e??{}}}days(t,e){let r=new Map;for(let[s,a]of Object.entries(t.sensors))for(let{start:o,change:c}of e[a]??[]){let h=r.get(o)??{start:o,counts:{}};h.counts[s]=c??0,r.set(o,h)}return[...r.values()].sort((s,a)=>s.start-a.start)}show({agents:t,rows:e,prices:r}){return t.length?n`${t.map(s=>this.agent(s,this.days(s,e),r[s.id]??{}))}`:this.empty("usage.no_agent")}agent(t,e,r){let s=w(this.hass,t.month_tokens),a=t.monthly_limit?w(this.hass,t.monthly_limit):"";return n`<ha-card>
      <h2>${t.name}</h2>
      <p class="faint">
        ${t.model} · ${a?this.say("usage.month_of",{month:s,limit:a}):this.say("usage.month",{month:s})}
      </p>
      ${e.length?n`${this.chart(e)}${this.table(e,r)}`:n`<p>${this.say("usage.no_days")}</p>`}
      <details>
        <summary>${this.say("usage.prices",{currency:this.hass.config.currency})}</summary>
        <form @submit=${o=>this.save(o,t)}>
          ${A.map(o=>n`<label
                >${this.say(`usage.${o}`)}
                <input name=${o} type="number" min="0" step="any" .value=${String(r[o]??"")}
              /></label>`)}
          <div class="bar">
            <button class="main">${this.say("usage.save")}</button>
            ${this.saved?n`<span role="status">${this.say("usage.saved")}</span>`:d}
          </div>
        </form>
      </details>
    </ha-card>`}async save(t,e){t.preventDefault();let r=new FormData(t.target),s=A.flatMap(a=>r.get(a)?[[a,Number(r.get(a))]]:[]);await this.attempt(async()=>{let a={...this.data?.prices,[e.id]:Object.fromEntries(s)};await this.hass.callWS({type:"frontend/set_user_data",key:ut,value:a}),this.saved=!0,await this.load()})}chart(t){let[e,r,s]=[N*40,140,8],a=Math.max(1,...t.map(pt));return n`
      <svg viewBox="0 0 ${e} ${r+20}" width="100%" role="img" aria-label=${this.say("usage.chart")}>
        ${t.slice(-N).map((o,c)=>{let h=r;return S`
            ${A.map((v,u)=>{let f=(o.counts[v]??0)/a*r;return h-=f,S`<rect x=${c*40+s/2} y=${h} width=${40-s} height=${f}
                style="fill: var(${ht[u]})"></rect>`})}
            <text x=${c*40+20} y=${r+15} text-anchor="middle" font-size="11"
              style="fill: var(--secondary-text-color)">${K(this.hass,o.start/1e3,{day:"numeric"})}</text>`})}
      </svg>
      <ul class="chips">
        ${A.map((o,c)=>n`<li style="border-color: var(${ht[c]})">${this.say(`usage.${o}`)}</li>`)}
      </ul>
    `}table(t,e){let r=Object.keys(e).length>0,s=o=>A.reduce((c,h)=>c+(o.counts[h]??0)*(e[h]??0)/1e6,0),a={style:"currency",currency:this.hass.config.currency};return n`<table>
      <tr>
        <th scope="col">${this.say("usage.day")}</th>
        <th scope="col">${this.say("usage.requests")}</th>
        <th scope="col">${this.say("usage.tokens")}</th>
        ${r?n`<th scope="col">${this.say("usage.cost")}</th>`:d}
      </tr>
      ${[...t].reverse().map(o=>n`<tr>
            <th scope="row">${K(this.hass,o.start/1e3,{dateStyle:"medium"})}</th>
            <td>${w(this.hass,o.counts.requests??0)}</td>
            <td>${w(this.hass,pt(o))}</td>
            ${r?n`<td>${w(this.hass,s(o),a)}</td>`:d}
          </tr>`)}
    </table>`}};p([g()],M.prototype,"saved",2),M=p([y("extended-assist-usage")],M);var H=100,O=class extends b{constructor(){super(...arguments);this.refresh=6e4;this.search="";this.offset=0}fetch(){return R(this.hass,"visible",{search:this.search,offset:this.offset})}find(t){this.search=t,this.offset=0,this.load()}turn(t){this.offset=t,this.load()}show({rows:t,found:e,exposed:r}){return n`
      <ha-card>
        <label for="search">${this.say("visible.search")}</label>
        <input
          id="search"
          type="search"
          maxlength="100"
          .value=${this.search}
          @change=${s=>this.find(s.target.value)}
        />
        <p class="faint" role="status">
          ${this.say("visible.found",{found:w(this.hass,e),exposed:w(this.hass,r)})}
        </p>
        <p><a href="/config/voice-assistants/expose">${this.say("visible.expose")}</a></p>
      </ha-card>
      ${t.map(s=>this.row(s))}
      ${e>H?n`<div class="bar">
            <button ?disabled=${!this.offset} @click=${()=>this.turn(Math.max(0,this.offset-H))}>
              ${this.say("visible.before")}
            </button>
            <button ?disabled=${this.offset+H>=e} @click=${()=>this.turn(this.offset+H)}>
              ${this.say("visible.after")}
            </button>
          </div>`:d}
    `}row(t){let e=t.aliases.length?` · ${t.aliases.join(", ")}`:"";return n`<ha-card>
      <h2><button class="link" @click=${()=>Q(this,t.entity_id)}>${t.name}</button></h2>
      <p class="faint">${t.entity_id}${t.area?` · ${t.area}`:d}${e}</p>
      ${t.families.length?n`<ul class="chips" aria-label=${this.say("visible.read_by")}>
            ${t.families.map(r=>n`<li>
                  ${this.hass.localize(`component.extended_assist.selector.families.options.${r}`)||r}
                </li>`)}
          </ul>`:d}
      ${t.reasons.map(r=>n`<p class="error">${this.say(`visible.why_${r}`)}</p>`)}
    </ha-card>`}};p([g()],O.prototype,"search",2),O=p([y("extended-assist-visible")],O);var mt=["journal","standing","memory","questions"],yt=["usage","visible","tools"],_=class extends G{constructor(){super(...arguments);this.narrow=!1;this.language=""}willUpdate(t){let{language:e}=this.hass;t.has("hass")&&e!==this.language&&J(this.hass).then(()=>{this.language=e})}updated(){this.renderRoot.querySelector("[aria-current]")?.scrollIntoView({block:"nearest",inline:"nearest"})}go(t,e){t.ctrlKey||t.metaKey||t.shiftKey||(t.preventDefault(),history.pushState(null,"",e),window.dispatchEvent(new CustomEvent("location-changed",{detail:{replace:!1}})))}render(){let{hass:t}=this,e=this.panel?.title||L(t,"panel.title"),r=t.user?.is_admin?[...mt,...yt]:mt,s=this.route?.path.split("/")[1]??"",a=r.includes(s)?s:"journal",o=tt(`extended-assist-${a}`),c=this.language!=="";return n`
      <header>
        <div class="title">
          <ha-menu-button .hass=${t} .narrow=${this.narrow}></ha-menu-button>
          <h1>${e}</h1>
        </div>
        <nav aria-label=${e}>
          ${(c?r:[]).map(h=>{let v=`${this.route?.prefix??"/extended-assist"}/${h}`;return n`<a
              href=${v}
              aria-current=${h===a?"page":d}
              @click=${u=>this.go(u,v)}
              >${L(t,`panel.${h}`)}</a
            >`})}
        </nav>
      </header>
      <main>${c?et`<${o} .hass=${t}></${o}>`:d}</main>
    `}};_.styles=[X,U`
      :host { min-height: 100vh; background: var(--primary-background-color); }
      header {
        position: sticky;
        top: 0;
        z-index: 2;
        background: var(--app-header-background-color, var(--primary-color));
        color: var(--app-header-text-color, var(--text-primary-color));
        border-bottom: var(--app-header-border-bottom, none);
      }
      .title {
        display: flex;
        align-items: center;
        height: var(--header-height, 56px);
        padding: 0 12px;
        font-size: var(--ha-font-size-xl, 20px);
      }
      h1 { margin: 0 12px; font: inherit; }
      nav { display: flex; min-height: 48px; overflow-x: auto; scrollbar-width: thin; }
      header nav a {
        flex: none;
        padding: 12px 16px;
        color: inherit;
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      header nav a[aria-current] { border-bottom-color: currentcolor; font-weight: var(--ha-font-weight-medium, 500); }
      header nav a:focus-visible { outline-color: currentcolor; outline-offset: -4px; }
      main { box-sizing: border-box; max-width: 840px; margin: 0 auto; padding: 16px 16px 48px; }
    `],p([D({attribute:!1})],_.prototype,"hass",2),p([D({type:Boolean,reflect:!0})],_.prototype,"narrow",2),p([D({attribute:!1})],_.prototype,"panel",2),p([D({attribute:!1})],_.prototype,"route",2),p([g()],_.prototype,"language",2),_=p([y("extended-assist-panel")],_);export{_ as AssistantPanel};
/*! Bundled license information:

lit-html/static.js:
lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
