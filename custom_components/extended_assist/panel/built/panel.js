import{a as p,b as U,c as n,d as S,e as z,f as W,g as d,h as Y,i as G,j as y,k as D,l as g,m as J,n as L,o as R,q as K,r as w,s as Q,t as X,u as b}from"./chunk-3557XIQF.js";var V=Symbol.for(""),dt=i=>{if(i?.r===V)return i?._$litStatic$},tt=i=>({_$litStatic$:i,r:V});var Z=new Map,B=i=>(l,...t)=>{let e=t.length,s,r,a=[],o=[],c,h=0,v=!1;for(;h<e;){for(c=l[h];h<e&&(r=t[h],(s=dt(r))!==void 0);)c+=s+l[++h],v=!0;h!==e&&o.push(r),a.push(c),h++}if(h===e&&a.push(l[e]),v){let u=a.join("$$lit$$");(l=Z.get(u))===void 0&&(a.raw=a,Z.set(u,l=a)),t=o}return i(l,...t)},et=B(n),vt=B(S),bt=B(z);var P=class extends b{constructor(){super(...arguments);this.asked=""}async fetch(){return(await this.perform("get_facts",{},!0))?.facts??[]}async perform(t,e,s=!1){let{response:r}=await this.hass.callWS({type:"call_service",domain:"extended_assist",service:t,service_data:e,return_response:s});return r}async forget(t){await this.attempt(async()=>{await this.perform("forget",{ids:[t.id]}),this.asked="",await this.load()})}show(t){return t.length?n`${t.map(e=>n`<ha-card>
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
        </ha-card>`)}`:this.empty("memory.empty")}};p([g()],P.prototype,"asked",2),P=p([y("extended-assist-memory")],P);var st={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},rt=i=>(...l)=>({_$litDirective$:i,values:l}),j=class{constructor(l){}get _$AU(){return this._$AM._$AU}_$AT(l,t,e){this._$Ct=l,this._$AM=t,this._$Ci=e}_$AS(l,t){return this.update(l,t)}update(l,t){return this.render(...t)}};var{I:ft}=Y,at=i=>i;var it=()=>document.createComment(""),E=(i,l,t)=>{let e=i._$AA.parentNode,s=l===void 0?i._$AB:l._$AA;if(t===void 0){let r=e.insertBefore(it(),s),a=e.insertBefore(it(),s);t=new ft(r,a,i,i.options)}else{let r=t._$AB.nextSibling,a=t._$AM,o=a!==i;if(o){let c;t._$AQ?.(i),t._$AM=i,t._$AP!==void 0&&(c=i._$AU)!==a._$AU&&t._$AP(c)}if(r!==s||o){let c=t._$AA;for(;c!==r;){let h=at(c).nextSibling;at(e).insertBefore(c,s),c=h}}}return t},T=(i,l,t=i)=>(i._$AI(l,t),i),$t={},ot=(i,l=$t)=>i._$AH=l,nt=i=>i._$AH,C=i=>{i._$AR(),i._$AA.remove()};var lt=(i,l,t)=>{let e=new Map;for(let s=l;s<=t;s++)e.set(i[s],s);return e},ct=rt(class extends j{constructor(i){if(super(i),i.type!==st.CHILD)throw Error("repeat() can only be used in text expressions")}dt(i,l,t){let e;t===void 0?t=l:l!==void 0&&(e=l);let s=[],r=[],a=0;for(let o of i)s[a]=e?e(o,a):a,r[a]=t(o,a),a++;return{values:r,keys:s}}render(i,l,t){return this.dt(i,l,t).values}update(i,[l,t,e]){let s=nt(i),{values:r,keys:a}=this.dt(l,t,e);if(!Array.isArray(s))return this.ut=a,r;let o=this.ut??=[],c=[],h,v,u=0,f=s.length-1,m=0,$=r.length-1;for(;u<=f&&m<=$;)if(s[u]===null)u++;else if(s[f]===null)f--;else if(o[u]===a[m])c[m]=T(s[u],r[m]),u++,m++;else if(o[f]===a[$])c[$]=T(s[f],r[$]),f--,$--;else if(o[u]===a[$])c[$]=T(s[u],r[$]),E(i,c[$+1],s[u]),u++,$--;else if(o[f]===a[m])c[m]=T(s[f],r[m]),E(i,s[u],s[f]),f--,m++;else if(h===void 0&&(h=lt(a,m,$),v=lt(o,u,f)),h.has(o[u]))if(h.has(o[f])){let x=v.get(a[m]),I=x!==void 0?s[x]:null;if(I===null){let F=E(i,s[u]);T(F,r[m]),c[m]=F}else c[m]=T(I,r[m]),E(i,s[u],I),s[x]=null;m++}else C(s[f]),f--;else C(s[u]),u++;for(;m<=$;){let x=E(i,c[$+1]);T(x,r[m]),c[m++]=x}for(;u<=f;){let x=s[u++];x!==null&&C(x)}return this.ut=a,ot(i,c),W}});var q=class extends b{constructor(){super(...arguments);this.refresh=5e3}fetch(){return R(this.hass,"questions/list")}show(t){let e=Object.values(this.outcomes).map(({question:a})=>a?.id),s=t.filter(({id:a})=>!this.outcomes[a]&&!e.includes(a)),r=Object.keys(this.outcomes);return!s.length&&!r.length?this.empty("questions.empty"):n`
      ${ct(s,({id:a})=>a,a=>n`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${a.kind}`)} ·
              ${this.say("questions.minutes",{minutes:Math.max(1,Math.round(a.seconds/60))})}
            </p>
            ${this.outcomeOf(a.id,{done:!1,question:a})}
          </ha-card>`)}
      ${r.map(a=>n`<ha-card>${this.outcomeOf(a)}</ha-card>`)}
    `}};q=p([y("extended-assist-questions")],q);var k=class extends b{constructor(){super(...arguments);this.refresh=2**30;this.chosen=0;this.written="{}";this.busy=!1}fetch(){return R(this.hass,"tools/list")}choose(t){this.chosen=t,this.outcomes={};let{required:e=[],properties:s={}}=this.data?.[t]?.parameters??{},r={object:{},array:[],integer:0,number:0,boolean:!1},a=e.map(o=>[o,r[s[o]?.type??""]??""]);this.written=JSON.stringify(Object.fromEntries(a),null,2)}async call(t){let e;try{e=JSON.parse(this.written||"{}")}catch{e=null}if(!e||typeof e!="object"||Array.isArray(e)){this.error=this.say("tools.no_object");return}this.busy=!0,this.outcomes={};let{entry:s,name:r}=t;await this.act(r,"tools/call",{entry:s,tool:r,arguments:e}),this.busy=!1}show(t){let e=t[this.chosen];if(!e)return this.empty("tools.empty");let s=[...new Set(t.map(r=>r.entry))];return n`<ha-card>
      <label for="tool">${this.say("tools.tool")}</label>
      <select id="tool" @change=${r=>this.choose(Number(r.target.value))}>
        ${s.map(r=>n`<optgroup label=${t.find(a=>a.entry===r)?.entry_title??r}>
              ${t.map((a,o)=>a.entry===r?n`<option value=${o} ?selected=${o===this.chosen}>${a.title} (${a.name})</option>`:d)}
            </optgroup>`)}
      </select>
      <p>${e.description}</p>
      ${Object.keys(e.parameters.properties??{}).length?n`<ul>
            ${Object.entries(e.parameters.properties??{}).map(([r,a])=>n`<li>
                  <code>${r}</code>${e.parameters.required?.includes(r)?` (${this.say("tools.required")})`:d}
                  ${a.description??""}
                </li>`)}
          </ul>`:d}
      <label for="arguments">${this.say("tools.arguments")}</label>
      <textarea
        id="arguments"
        spellcheck="false"
        .value=${this.written}
        @input=${r=>{this.written=r.target.value}}
      ></textarea>
      <div class="bar">
        <button class="main" ?disabled=${this.busy} @click=${()=>this.call(e)}>${this.say("tools.call")}</button>
        ${e.read_only?d:n`<span class="faint">${this.say("tools.acts")}</span>`}
      </div>
      ${this.outcomeOf(e.name,void 0,!0)}
    </ha-card>`}};p([g()],k.prototype,"chosen",2),p([g()],k.prototype,"written",2),p([g()],k.prototype,"busy",2),k=p([y("extended-assist-tools")],k);var N=14,A=["input_tokens","cached_tokens","cache_written_tokens","output_tokens"],ht=["--color-1, #4269d0","--color-2, #f4bd4a","--color-3, #ff725c","--color-4, #6cc5b0"],ut="extended_assist_prices",pt=i=>A.reduce((l,t)=>l+(i.counts[t]??0),0),O=class extends b{constructor(){super(...arguments);this.refresh=6e4;this.saved=!1}async fetch(){let t=await R(this.hass,"usage"),{value:e}=await this.hass.callWS({type:"frontend/get_user_data",key:ut}),s=t.flatMap(o=>Object.values(o.sensors)),r=new Date;r.setDate(r.getDate()-N+1),r.setHours(0,0,0,0);let a=s.length?await this.hass.callWS({type:"recorder/statistics_during_period",start_time:r.toISOString(),statistic_ids:s,period:"day",types:["change"]}):{};return{agents:t,rows:a,prices:e??{}}}days(t,e){let s=new Map;for(let[r,a]of Object.entries(t.sensors))for(let{start:o,change:c}of e[a]??[]){let h=s.get(o)??{start:o,counts:{}};h.counts[r]=c??0,s.set(o,h)}return[...s.values()].sort((r,a)=>r.start-a.start)}show({agents:t,rows:e,prices:s}){return t.length?n`${t.map(r=>this.agent(r,this.days(r,e),s[r.id]??{}))}`:this.empty("usage.no_agent")}agent(t,e,s){let r=w(this.hass,t.month_tokens),a=t.monthly_limit?w(this.hass,t.monthly_limit):"";return n`<ha-card>
      <h2>${t.name}</h2>
      <p class="faint">
        ${t.model} · ${a?this.say("usage.month_of",{month:r,limit:a}):this.say("usage.month",{month:r})}
      </p>
      ${e.length?n`${this.chart(e)}${this.table(e,s)}`:n`<p>${this.say("usage.no_days")}</p>`}
      <details>
        <summary>${this.say("usage.prices",{currency:this.hass.config.currency})}</summary>
        <form @submit=${o=>this.save(o,t)}>
          ${A.map(o=>n`<label
                >${this.say(`usage.${o}`)}
                <input name=${o} type="number" min="0" step="any" .value=${String(s[o]??"")}
              /></label>`)}
          <div class="bar">
            <button class="main">${this.say("usage.save")}</button>
            ${this.saved?n`<span role="status">${this.say("usage.saved")}</span>`:d}
          </div>
        </form>
      </details>
    </ha-card>`}async save(t,e){t.preventDefault();let s=new FormData(t.target),r=A.flatMap(a=>s.get(a)?[[a,Number(s.get(a))]]:[]);await this.attempt(async()=>{let a={...this.data?.prices,[e.id]:Object.fromEntries(r)};await this.hass.callWS({type:"frontend/set_user_data",key:ut,value:a}),this.saved=!0,await this.load()})}chart(t){let[e,s,r]=[N*40,140,8],a=Math.max(1,...t.map(pt));return n`
      <svg viewBox="0 0 ${e} ${s+20}" width="100%" role="img" aria-label=${this.say("usage.chart")}>
        ${t.slice(-N).map((o,c)=>{let h=s;return S`
            ${A.map((v,u)=>{let f=(o.counts[v]??0)/a*s;return h-=f,S`<rect x=${c*40+r/2} y=${h} width=${40-r} height=${f}
                style="fill: var(${ht[u]})"></rect>`})}
            <text x=${c*40+20} y=${s+15} text-anchor="middle" font-size="11"
              style="fill: var(--secondary-text-color)">${K(this.hass,o.start/1e3,{day:"numeric"})}</text>`})}
      </svg>
      <ul class="chips">
        ${A.map((o,c)=>n`<li style="border-color: var(${ht[c]})">${this.say(`usage.${o}`)}</li>`)}
      </ul>
    `}table(t,e){let s=Object.keys(e).length>0,r=o=>A.reduce((c,h)=>c+(o.counts[h]??0)*(e[h]??0)/1e6,0),a={style:"currency",currency:this.hass.config.currency};return n`<table>
      <tr>
        <th scope="col">${this.say("usage.day")}</th>
        <th scope="col">${this.say("usage.requests")}</th>
        <th scope="col">${this.say("usage.tokens")}</th>
        ${s?n`<th scope="col">${this.say("usage.cost")}</th>`:d}
      </tr>
      ${[...t].reverse().map(o=>n`<tr>
            <th scope="row">${K(this.hass,o.start/1e3,{dateStyle:"medium"})}</th>
            <td>${w(this.hass,o.counts.requests??0)}</td>
            <td>${w(this.hass,pt(o))}</td>
            ${s?n`<td>${w(this.hass,r(o),a)}</td>`:d}
          </tr>`)}
    </table>`}};p([g()],O.prototype,"saved",2),O=p([y("extended-assist-usage")],O);var H=100,M=class extends b{constructor(){super(...arguments);this.refresh=6e4;this.search="";this.offset=0}fetch(){return R(this.hass,"visible",{search:this.search,offset:this.offset})}find(t){this.search=t,this.offset=0,this.load()}turn(t){this.offset=t,this.load()}show({rows:t,found:e,exposed:s}){return n`
      <ha-card>
        <label for="search">${this.say("visible.search")}</label>
        <input
          id="search"
          type="search"
          maxlength="100"
          .value=${this.search}
          @change=${r=>this.find(r.target.value)}
        />
        <p class="faint" role="status">
          ${this.say("visible.found",{found:w(this.hass,e),exposed:w(this.hass,s)})}
        </p>
        <p><a href="/config/voice-assistants/expose">${this.say("visible.expose")}</a></p>
      </ha-card>
      ${t.map(r=>this.row(r))}
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
            ${t.families.map(s=>n`<li>
                  ${this.hass.localize(`component.extended_assist.selector.families.options.${s}`)||s}
                </li>`)}
          </ul>`:d}
      ${t.reasons.map(s=>n`<p class="error">${this.say(`visible.why_${s}`)}</p>`)}
    </ha-card>`}};p([g()],M.prototype,"search",2),M=p([y("extended-assist-visible")],M);var mt=["journal","standing","memory","questions"],yt=["usage","visible","tools"],_=class extends G{constructor(){super(...arguments);this.narrow=!1;this.language=""}willUpdate(t){let{language:e}=this.hass;t.has("hass")&&e!==this.language&&J(this.hass).then(()=>{this.language=e})}updated(){this.renderRoot.querySelector("[aria-current]")?.scrollIntoView({block:"nearest",inline:"nearest"})}go(t,e){t.ctrlKey||t.metaKey||t.shiftKey||(t.preventDefault(),history.pushState(null,"",e),window.dispatchEvent(new CustomEvent("location-changed",{detail:{replace:!1}})))}render(){let{hass:t}=this,e=this.panel?.title||L(t,"panel.title"),s=t.user?.is_admin?[...mt,...yt]:mt,r=this.route?.path.split("/")[1]??"",a=s.includes(r)?r:"journal",o=tt(`extended-assist-${a}`),c=this.language!=="";return n`
      <header>
        <div class="title">
          <ha-menu-button .hass=${t} .narrow=${this.narrow}></ha-menu-button>
          <h1>${e}</h1>
        </div>
        <nav aria-label=${e}>
          ${(c?s:[]).map(h=>{let v=`${this.route?.prefix??"/extended-assist"}/${h}`;return n`<a
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
