import{a as h,b as F,c as n,d as L,e as z,f as m,g as U,h as W,i as y,j as O,k as g,l as Y,m as j,n as w,p as K,q as x,r as G,s as J,t as v}from"./chunk-MQTGXT4H.js";var k=class extends v{constructor(){super(...arguments);this.asked=""}async fetch(){return(await this.perform("get_facts",{},!0))?.facts??[]}async perform(t,e,r=!1){let{response:s}=await this.hass.callWS({type:"call_service",domain:"extended_assist",service:t,service_data:e,return_response:r});return s}async forget(t){await this.attempt(async()=>{await this.perform("forget",{ids:[t.id]}),this.asked="",await this.load()})}show(t){return t.length?n`${t.map(e=>n`<ha-card>
          <div class="row">
            <div>
              <h2>${e.words}</h2>
              <p class="faint">
                ${this.say(e.whose==="me"?"memory.own":"memory.household")} · ${e.said}${e.until?` · ${this.say("memory.until",{time:e.until})}`:m}
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
                  <button
                    @click=${()=>{this.asked=""}}
                  >
                    ${this.say("questions.no")}
                  </button>
                </div>
              </div>`:m}
        </ha-card>`)}`:this.empty("memory.empty")}};h([g()],k.prototype,"asked",2),k=h([y("extended-assist-memory")],k);var Q={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},X=o=>(...c)=>({_$litDirective$:o,values:c}),M=class{constructor(c){}get _$AU(){return this._$AM._$AU}_$AT(c,t,e){this._$Ct=c,this._$AM=t,this._$Ci=e}_$AS(c,t){return this.update(c,t)}update(c,t){return this.render(...t)}};var{I:nt}=U,Z=o=>o;var V=()=>document.createComment(""),A=(o,c,t)=>{let e=o._$AA.parentNode,r=c===void 0?o._$AB:c._$AA;if(t===void 0){let s=e.insertBefore(V(),r),a=e.insertBefore(V(),r);t=new nt(s,a,o,o.options)}else{let s=t._$AB.nextSibling,a=t._$AM,i=a!==o;if(i){let l;t._$AQ?.(o),t._$AM=o,t._$AP!==void 0&&(l=o._$AU)!==a._$AU&&t._$AP(l)}if(s!==r||i){let l=t._$AA;for(;l!==s;){let u=Z(l).nextSibling;Z(e).insertBefore(l,r),l=u}}}return t},T=(o,c,t=o)=>(o._$AI(c,t),o),lt={},tt=(o,c=lt)=>o._$AH=c,et=o=>o._$AH,q=o=>{o._$AR(),o._$AA.remove()};var st=(o,c,t)=>{let e=new Map;for(let r=c;r<=t;r++)e.set(o[r],r);return e},rt=X(class extends M{constructor(o){if(super(o),o.type!==Q.CHILD)throw Error("repeat() can only be used in text expressions")}dt(o,c,t){let e;t===void 0?t=c:c!==void 0&&(e=c);let r=[],s=[],a=0;for(let i of o)r[a]=e?e(i,a):a,s[a]=t(i,a),a++;return{values:s,keys:r}}render(o,c,t){return this.dt(o,c,t).values}update(o,[c,t,e]){let r=et(o),{values:s,keys:a}=this.dt(c,t,e);if(!Array.isArray(r))return this.ut=a,s;let i=this.ut??=[],l=[],u,S,d=0,f=r.length-1,p=0,$=s.length-1;for(;d<=f&&p<=$;)if(r[d]===null)d++;else if(r[f]===null)f--;else if(i[d]===a[p])l[p]=T(r[d],s[p]),d++,p++;else if(i[f]===a[$])l[$]=T(r[f],s[$]),f--,$--;else if(i[d]===a[$])l[$]=T(r[d],s[$]),A(o,l[$+1],r[d]),d++,$--;else if(i[f]===a[p])l[p]=T(r[f],s[p]),A(o,r[d],r[f]),f--,p++;else if(u===void 0&&(u=st(a,p,$),S=st(i,d,f)),u.has(i[d]))if(u.has(i[f])){let b=S.get(a[p]),I=b!==void 0?r[b]:null;if(I===null){let N=A(o,r[d]);T(N,s[p]),l[p]=N}else l[p]=T(I,s[p]),A(o,r[d],I),r[b]=null;p++}else q(r[f]),f--;else q(r[d]),d++;for(;p<=$;){let b=A(o,l[$+1]);T(b,s[p]),l[p++]=b}for(;d<=f;){let b=r[d++];b!==null&&q(b)}return this.ut=a,tt(o,l),z}});var C=class extends v{constructor(){super(...arguments);this.refresh=5e3}fetch(){return w(this.hass,"questions/list")}show(t){let e=t.filter(({id:s})=>!this.outcomes[s]),r=Object.keys(this.outcomes).filter(s=>!this.outcomes[s]?.question);return!e.length&&!r.length?this.empty("questions.empty"):n`
      ${rt(e,({id:s})=>s,s=>n`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${s.kind}`)} ·
              ${this.say("questions.minutes",{minutes:Math.max(1,Math.round(s.seconds/60))})}
            </p>
            ${this.outcomeOf(s.id,{done:!1,question:s})}
          </ha-card>`)}
      ${r.map(s=>n`<ha-card>${this.outcomeOf(s)}</ha-card>`)}
    `}};C=h([y("extended-assist-questions")],C);var R=class extends v{constructor(){super(...arguments);this.refresh=2**30;this.chosen=0;this.written="{}";this.busy=!1}fetch(){return w(this.hass,"tools/list")}choose(t){this.chosen=t,this.outcomes={};let{required:e=[],properties:r={}}=this.data?.[t]?.parameters??{},s={object:{},array:[],integer:0,number:0,boolean:!1},a=e.map(i=>[i,s[r[i]?.type??""]??""]);this.written=JSON.stringify(Object.fromEntries(a),null,2)}async call(t){let e;try{e=JSON.parse(this.written||"{}")}catch{e=null}if(!e||typeof e!="object"||Array.isArray(e)){this.error=this.say("tools.no_object");return}this.busy=!0,this.outcomes={};let{entry:r,name:s}=t;await this.act(s,"tools/call",{entry:r,tool:s,arguments:e}),this.busy=!1}show(t){let e=t[this.chosen];if(!e)return this.empty("tools.empty");let r=[...new Set(t.map(s=>s.entry))];return n`<ha-card>
      <label for="tool">${this.say("tools.tool")}</label>
      <select id="tool" @change=${s=>this.choose(Number(s.target.value))}>
        ${r.map(s=>n`<optgroup label=${t.find(a=>a.entry===s)?.entry_title??s}>
              ${t.map((a,i)=>a.entry===s?n`<option value=${i} ?selected=${i===this.chosen}>${a.title} (${a.name})</option>`:m)}
            </optgroup>`)}
      </select>
      <p>${e.description}</p>
      ${Object.keys(e.parameters.properties??{}).length?n`<ul>
            ${Object.entries(e.parameters.properties??{}).map(([s,a])=>n`<li>
                  <code>${s}</code>${e.parameters.required?.includes(s)?` (${this.say("tools.required")})`:m}
                  ${a.description??""}
                </li>`)}
          </ul>`:m}
      <label for="arguments">${this.say("tools.arguments")}</label>
      <textarea
        id="arguments"
        spellcheck="false"
        .value=${this.written}
        @input=${s=>{this.written=s.target.value}}
      ></textarea>
      <div class="bar">
        <button class="main" ?disabled=${this.busy} @click=${()=>this.call(e)}>${this.say("tools.call")}</button>
        ${e.read_only?m:n`<span class="faint">${this.say("tools.acts")}</span>`}
      </div>
      ${this.outcomeOf(e.name,void 0,!0)}
    </ha-card>`}};h([g()],R.prototype,"chosen",2),h([g()],R.prototype,"written",2),h([g()],R.prototype,"busy",2),R=h([y("extended-assist-tools")],R);var B=14,E=["input_tokens","cached_tokens","cache_written_tokens","output_tokens"],at=["--color-1, #4269d0","--color-2, #f4bd4a","--color-3, #ff725c","--color-4, #6cc5b0"],it="extended_assist_prices",D=class extends v{constructor(){super(...arguments);this.refresh=6e4;this.saved=!1}async fetch(){let t=await w(this.hass,"usage"),{value:e}=await this.hass.callWS({type:"frontend/get_user_data",key:it}),r=t.flatMap(l=>Object.values(l.sensors)),s=new Date;s.setDate(s.getDate()-B+1),s.setHours(0,0,0,0);let a=r.length?await this.hass.callWS({type:"recorder/statistics_during_period",start_time:s.toISOString(),statistic_ids:r,period:"day",types:["change"]}):{},i=Object.fromEntries(t.map(l=>[l.id,this.days(l,a)]));return{agents:t,days:i,prices:e??{}}}days(t,e){let r=new Map;for(let[s,a]of Object.entries(t.sensors))for(let{start:i,change:l}of e[a]??[]){let u=r.get(i)??{start:i,counts:{}};u.counts[s]=l??0,r.set(i,u)}return[...r.values()].sort((s,a)=>s.start-a.start)}show({agents:t,days:e,prices:r}){return t.length?n`${t.map(s=>this.agent(s,e[s.id]??[],r[s.id]??{}))}`:this.empty("usage.no_agent")}agent(t,e,r){let s=x(this.hass,t.month_tokens),a=t.monthly_limit?x(this.hass,t.monthly_limit):"";return n`<ha-card>
      <h2>${t.name}</h2>
      <p class="faint">
        ${t.model} · ${a?this.say("usage.month_of",{month:s,limit:a}):this.say("usage.month",{month:s})}
      </p>
      ${e.length?n`${this.chart(e)}${this.table(e,r)}`:n`<p>${this.say("usage.no_days")}</p>`}
      <details>
        <summary>${this.say("usage.prices",{currency:this.hass.config.currency})}</summary>
        <form @submit=${i=>this.save(i,t)}>
          ${E.map(i=>n`<label
                >${this.say(`usage.${i}`)}
                <input name=${i} type="number" min="0" step="any" .value=${String(r[i]??"")}
              /></label>`)}
          <div class="bar">
            <button class="main">${this.say("usage.save")}</button>
            ${this.saved?n`<span role="status">${this.say("usage.saved")}</span>`:m}
          </div>
        </form>
      </details>
    </ha-card>`}async save(t,e){t.preventDefault();let r=new FormData(t.target),s=E.flatMap(a=>r.get(a)?[[a,Number(r.get(a))]]:[]);await this.attempt(async()=>{let a={...this.data?.prices,[e.id]:Object.fromEntries(s)};await this.hass.callWS({type:"frontend/set_user_data",key:it,value:a}),this.saved=!0,await this.load()})}chart(t){let[e,r,s]=[B*40,140,8],a=Math.max(1,...t.map(i=>E.reduce((l,u)=>l+(i.counts[u]??0),0)));return n`
      <svg viewBox="0 0 ${e} ${r+20}" width="100%" role="img" aria-label=${this.say("usage.chart")}>
        ${t.slice(-B).map((i,l)=>{let u=r;return L`
            ${E.map((S,d)=>{let f=(i.counts[S]??0)/a*r;return u-=f,L`<rect x=${l*40+s/2} y=${u} width=${40-s} height=${f}
                style="fill: var(${at[d]})"></rect>`})}
            <text x=${l*40+20} y=${r+15} text-anchor="middle" font-size="11"
              style="fill: var(--secondary-text-color)">${K(this.hass,i.start/1e3,{day:"numeric"})}</text>`})}
      </svg>
      <ul class="chips">
        ${E.map((i,l)=>n`<li style="border-color: var(${at[l]})">${this.say(`usage.${i}`)}</li>`)}
      </ul>
    `}table(t,e){let r=Object.keys(e).length>0,s=i=>E.reduce((l,u)=>l+(i.counts[u]??0)*(e[u]??0)/1e6,0),a={style:"currency",currency:this.hass.config.currency};return n`<table>
      <tr>
        <th scope="col">${this.say("usage.day")}</th>
        <th scope="col">${this.say("usage.requests")}</th>
        <th scope="col">${this.say("usage.tokens")}</th>
        ${r?n`<th scope="col">${this.say("usage.cost")}</th>`:m}
      </tr>
      ${[...t].reverse().map(i=>n`<tr>
            <th scope="row">${K(this.hass,i.start/1e3,{dateStyle:"medium"})}</th>
            <td>${x(this.hass,i.counts.requests??0)}</td>
            <td>
              ${x(this.hass,E.reduce((l,u)=>l+(i.counts[u]??0),0))}
            </td>
            ${r?n`<td>${x(this.hass,s(i),a)}</td>`:m}
          </tr>`)}
    </table>`}};h([g()],D.prototype,"saved",2),D=h([y("extended-assist-usage")],D);var H=100,P=class extends v{constructor(){super(...arguments);this.refresh=6e4;this.search="";this.offset=0}fetch(){return w(this.hass,"visible",{search:this.search,offset:this.offset})}find(t){this.search=t,this.offset=0,this.load()}turn(t){this.offset=t,this.load()}show({rows:t,found:e,exposed:r}){return n`
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
          ${this.say("visible.found",{found:x(this.hass,e),exposed:x(this.hass,r)})}
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
          </div>`:m}
    `}row(t){let e=t.aliases.length?` · ${t.aliases.join(", ")}`:"";return n`<ha-card>
      <h2><button class="link" @click=${()=>G(this,t.entity_id)}>${t.name}</button></h2>
      <p class="faint">${t.entity_id}${t.area?` · ${t.area}`:m}${e}</p>
      ${t.families.length?n`<ul class="chips" aria-label=${this.say("visible.read_by")}>
            ${t.families.map(r=>n`<li>
                  ${this.hass.localize(`component.extended_assist.selector.families.options.${r}`)||r}
                </li>`)}
          </ul>`:m}
      ${t.reasons.map(r=>n`<p class="error">${this.say(`visible.why_${r}`)}</p>`)}
    </ha-card>`}};h([g()],P.prototype,"search",2),P=h([y("extended-assist-visible")],P);var ot=["journal","standing","memory","questions"],ct=["usage","visible","tools"],_=class extends W{constructor(){super(...arguments);this.narrow=!1;this.language=""}willUpdate(t){let{language:e}=this.hass;t.has("hass")&&e!==this.language&&Y(this.hass).then(()=>{this.language=e})}go(t,e){t.ctrlKey||t.metaKey||t.shiftKey||(t.preventDefault(),history.pushState(null,"",e),window.dispatchEvent(new CustomEvent("location-changed",{detail:{replace:!1}})))}render(){if(!this.language)return m;let{hass:t}=this,e=t.user?.is_admin?[...ot,...ct]:ot,r=this.route?.path.split("/")[1]??"",s=e.includes(r)?r:"journal";return n`
      <header>
        <div class="title">
          <ha-menu-button .hass=${t} .narrow=${this.narrow}></ha-menu-button>
          <h1>${j(t,"panel.title")}</h1>
        </div>
        <nav aria-label=${j(t,"panel.title")}>
          ${e.map(a=>{let i=`${this.route?.prefix??"/extended-assist"}/${a}`;return n`<a
              href=${i}
              aria-current=${a===s?"page":m}
              @click=${l=>this.go(l,i)}
              >${j(t,`panel.${a}`)}</a
            >`})}
        </nav>
      </header>
      <main>${this.view(s)}</main>
    `}view(t){let{hass:e}=this;switch(t){case"standing":return n`<extended-assist-standing .hass=${e}></extended-assist-standing>`;case"memory":return n`<extended-assist-memory .hass=${e}></extended-assist-memory>`;case"questions":return n`<extended-assist-questions .hass=${e}></extended-assist-questions>`;case"usage":return n`<extended-assist-usage .hass=${e}></extended-assist-usage>`;case"visible":return n`<extended-assist-visible .hass=${e}></extended-assist-visible>`;case"tools":return n`<extended-assist-tools .hass=${e}></extended-assist-tools>`;default:return n`<extended-assist-journal .hass=${e}></extended-assist-journal>`}}};_.styles=[J,F`
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
      nav { display: flex; overflow-x: auto; scrollbar-width: thin; }
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
    `],h([O({attribute:!1})],_.prototype,"hass",2),h([O({type:Boolean,reflect:!0})],_.prototype,"narrow",2),h([O({attribute:!1})],_.prototype,"route",2),h([g()],_.prototype,"language",2),_=h([y("extended-assist-panel")],_);export{_ as AssistantPanel};
/*! Bundled license information:

lit-html/directive.js:
lit-html/directives/repeat.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
