import{a as h,b as F,c as n,d as L,e as z,f as u,g as U,h as W,i as g,j as M,k as $,l as Y,m as j,n as x,p as K,q as _,r as G,s as J,t as v}from"./chunk-SOCLDNER.js";var k=class extends v{constructor(){super(...arguments);this.asked=""}async fetch(){return(await this.perform("get_facts",{},!0))?.facts??[]}async perform(t,e,s=!1){let{response:r}=await this.hass.callWS({type:"call_service",domain:"extended_assist",service:t,service_data:e,return_response:s});return r}async forget(t){await this.attempt(async()=>{await this.perform("forget",{ids:[t.id]}),this.asked="",await this.load()})}show(t){return t.length?n`${t.map(e=>n`<ha-card>
          <div class="row">
            <div>
              <h2>${e.words}</h2>
              <p class="faint">
                ${this.say(e.whose==="me"?"memory.own":"memory.household")} · ${e.said}${e.until?` · ${this.say("memory.until",{time:e.until})}`:u}
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
              </div>`:u}
        </ha-card>`)}`:this.empty("memory.empty")}};h([$()],k.prototype,"asked",2),k=h([g("extended-assist-memory")],k);var Q={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},X=o=>(...c)=>({_$litDirective$:o,values:c}),q=class{constructor(c){}get _$AU(){return this._$AM._$AU}_$AT(c,t,e){this._$Ct=c,this._$AM=t,this._$Ci=e}_$AS(c,t){return this.update(c,t)}update(c,t){return this.render(...t)}};var{I:nt}=U,Z=o=>o;var V=()=>document.createComment(""),A=(o,c,t)=>{let e=o._$AA.parentNode,s=c===void 0?o._$AB:c._$AA;if(t===void 0){let r=e.insertBefore(V(),s),a=e.insertBefore(V(),s);t=new nt(r,a,o,o.options)}else{let r=t._$AB.nextSibling,a=t._$AM,i=a!==o;if(i){let l;t._$AQ?.(o),t._$AM=o,t._$AP!==void 0&&(l=o._$AU)!==a._$AU&&t._$AP(l)}if(r!==s||i){let l=t._$AA;for(;l!==r;){let m=Z(l).nextSibling;Z(e).insertBefore(l,s),l=m}}}return t},T=(o,c,t=o)=>(o._$AI(c,t),o),lt={},tt=(o,c=lt)=>o._$AH=c,et=o=>o._$AH,C=o=>{o._$AR(),o._$AA.remove()};var st=(o,c,t)=>{let e=new Map;for(let s=c;s<=t;s++)e.set(o[s],s);return e},rt=X(class extends q{constructor(o){if(super(o),o.type!==Q.CHILD)throw Error("repeat() can only be used in text expressions")}dt(o,c,t){let e;t===void 0?t=c:c!==void 0&&(e=c);let s=[],r=[],a=0;for(let i of o)s[a]=e?e(i,a):a,r[a]=t(i,a),a++;return{values:r,keys:s}}render(o,c,t){return this.dt(o,c,t).values}update(o,[c,t,e]){let s=et(o),{values:r,keys:a}=this.dt(c,t,e);if(!Array.isArray(s))return this.ut=a,r;let i=this.ut??=[],l=[],m,O,d=0,f=s.length-1,p=0,y=r.length-1;for(;d<=f&&p<=y;)if(s[d]===null)d++;else if(s[f]===null)f--;else if(i[d]===a[p])l[p]=T(s[d],r[p]),d++,p++;else if(i[f]===a[y])l[y]=T(s[f],r[y]),f--,y--;else if(i[d]===a[y])l[y]=T(s[d],r[y]),A(o,l[y+1],s[d]),d++,y--;else if(i[f]===a[p])l[p]=T(s[f],r[p]),A(o,s[d],s[f]),f--,p++;else if(m===void 0&&(m=st(a,p,y),O=st(i,d,f)),m.has(i[d]))if(m.has(i[f])){let b=O.get(a[p]),I=b!==void 0?s[b]:null;if(I===null){let N=A(o,s[d]);T(N,r[p]),l[p]=N}else l[p]=T(I,r[p]),A(o,s[d],I),s[b]=null;p++}else C(s[f]),f--;else C(s[d]),d++;for(;p<=y;){let b=A(o,l[y+1]);T(b,r[p]),l[p++]=b}for(;d<=f;){let b=s[d++];b!==null&&C(b)}return this.ut=a,tt(o,l),z}});var D=class extends v{constructor(){super(...arguments);this.refresh=5e3;this.answered=[]}fetch(){return x(this.hass,"questions/list")}show(t){return!t.length&&!this.answered.length?this.empty("questions.empty"):n`
      ${rt(t,e=>e.id,e=>n`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${e.kind}`)} ·
              ${this.say("questions.minutes",{minutes:Math.max(1,Math.round(e.seconds/60))})}
            </p>
            <extended-assist-outcome
              still
              .hass=${this.hass}
              .outcome=${{done:!1,question:e}}
              @answered=${s=>{s.detail.question||(this.answered=[s.detail,...this.answered]),this.load()}}
            ></extended-assist-outcome>
          </ha-card>`)}
      ${this.answered.map(e=>n`<ha-card>
            <extended-assist-outcome .hass=${this.hass} .outcome=${e}></extended-assist-outcome>
          </ha-card>`)}
    `}};h([$()],D.prototype,"answered",2),D=h([g("extended-assist-questions")],D);var R=class extends v{constructor(){super(...arguments);this.refresh=2**30;this.chosen=0;this.written="{}";this.busy=!1}fetch(){return x(this.hass,"tools/list")}choose(t){this.chosen=t,this.outcome=void 0;let{required:e=[],properties:s={}}=this.data?.[t]?.parameters??{},r={object:{},array:[],integer:0,number:0,boolean:!1},a=e.map(i=>[i,r[s[i]?.type??""]??""]);this.written=JSON.stringify(Object.fromEntries(a),null,2)}async call(t){let e;try{e=JSON.parse(this.written||"{}")}catch{e=null}if(!e||typeof e!="object"||Array.isArray(e)){this.error=this.say("tools.no_object");return}this.busy=!0,this.outcome=void 0,await this.attempt(async()=>{let{entry:s,name:r}=t;this.outcome=await x(this.hass,"tools/call",{entry:s,tool:r,arguments:e})}),this.busy=!1}show(t){let e=t[this.chosen];if(!e)return this.empty("tools.empty");let s=[...new Set(t.map(r=>r.entry))];return n`<ha-card>
      <label for="tool">${this.say("tools.tool")}</label>
      <select id="tool" @change=${r=>this.choose(Number(r.target.value))}>
        ${s.map(r=>n`<optgroup label=${t.find(a=>a.entry===r)?.entry_title??r}>
              ${t.map((a,i)=>a.entry===r?n`<option value=${i} ?selected=${i===this.chosen}>${a.title} (${a.name})</option>`:u)}
            </optgroup>`)}
      </select>
      <p>${e.description}</p>
      ${Object.keys(e.parameters.properties??{}).length?n`<ul>
            ${Object.entries(e.parameters.properties??{}).map(([r,a])=>n`<li>
                  <code>${r}</code>${e.parameters.required?.includes(r)?` (${this.say("tools.required")})`:u}
                  ${a.description??""}
                </li>`)}
          </ul>`:u}
      <label for="arguments">${this.say("tools.arguments")}</label>
      <textarea
        id="arguments"
        spellcheck="false"
        .value=${this.written}
        @input=${r=>{this.written=r.target.value}}
      ></textarea>
      <div class="bar">
        <button class="main" ?disabled=${this.busy} @click=${()=>this.call(e)}>${this.say("tools.call")}</button>
        ${e.read_only?u:n`<span class="faint">${this.say("tools.acts")}</span>`}
      </div>
      ${this.outcome?n`<extended-assist-outcome raw .hass=${this.hass} .outcome=${this.outcome}></extended-assist-outcome>`:u}
    </ha-card>`}};h([$()],R.prototype,"chosen",2),h([$()],R.prototype,"written",2),h([$()],R.prototype,"outcome",2),h([$()],R.prototype,"busy",2),R=h([g("extended-assist-tools")],R);var B=14,E=["input_tokens","cached_tokens","cache_written_tokens","output_tokens"],at=["--color-1, #4269d0","--color-2, #f4bd4a","--color-3, #ff725c","--color-4, #6cc5b0"],it="extended_assist_prices",P=class extends v{constructor(){super(...arguments);this.refresh=6e4;this.saved=!1}async fetch(){let t=await x(this.hass,"usage"),{value:e}=await this.hass.callWS({type:"frontend/get_user_data",key:it}),s=t.flatMap(l=>Object.values(l.sensors)),r=new Date;r.setDate(r.getDate()-B+1),r.setHours(0,0,0,0);let a=s.length?await this.hass.callWS({type:"recorder/statistics_during_period",start_time:r.toISOString(),statistic_ids:s,period:"day",types:["change"]}):{},i=Object.fromEntries(t.map(l=>[l.id,this.days(l,a)]));return{agents:t,days:i,prices:e??{}}}days(t,e){let s=new Map;for(let[r,a]of Object.entries(t.sensors))for(let{start:i,change:l}of e[a]??[]){let m=s.get(i)??{start:i,counts:{}};m.counts[r]=l??0,s.set(i,m)}return[...s.values()].sort((r,a)=>r.start-a.start)}show({agents:t,days:e,prices:s}){return t.length?n`${t.map(r=>this.agent(r,e[r.id]??[],s[r.id]??{}))}`:this.empty("usage.no_agent")}agent(t,e,s){let r=_(this.hass,t.month_tokens),a=t.monthly_limit?_(this.hass,t.monthly_limit):"";return n`<ha-card>
      <h2>${t.name}</h2>
      <p class="faint">
        ${t.model} · ${a?this.say("usage.month_of",{month:r,limit:a}):this.say("usage.month",{month:r})}
      </p>
      ${e.length?n`${this.chart(e)}${this.table(e,s)}`:n`<p>${this.say("usage.no_days")}</p>`}
      <details>
        <summary>${this.say("usage.prices",{currency:this.hass.config.currency})}</summary>
        <form @submit=${i=>this.save(i,t)}>
          ${E.map(i=>n`<label
                >${this.say(`usage.${i}`)}
                <input name=${i} type="number" min="0" step="any" .value=${String(s[i]??"")}
              /></label>`)}
          <div class="bar">
            <button class="main">${this.say("usage.save")}</button>
            ${this.saved?n`<span role="status">${this.say("usage.saved")}</span>`:u}
          </div>
        </form>
      </details>
    </ha-card>`}async save(t,e){t.preventDefault();let s=new FormData(t.target),r=E.flatMap(a=>s.get(a)?[[a,Number(s.get(a))]]:[]);await this.attempt(async()=>{let a={...this.data?.prices,[e.id]:Object.fromEntries(r)};await this.hass.callWS({type:"frontend/set_user_data",key:it,value:a}),this.saved=!0,await this.load()})}chart(t){let[e,s,r]=[B*40,140,8],a=Math.max(1,...t.map(i=>E.reduce((l,m)=>l+(i.counts[m]??0),0)));return n`
      <svg viewBox="0 0 ${e} ${s+20}" width="100%" role="img" aria-label=${this.say("usage.chart")}>
        ${t.slice(-B).map((i,l)=>{let m=s;return L`
            ${E.map((O,d)=>{let f=(i.counts[O]??0)/a*s;return m-=f,L`<rect x=${l*40+r/2} y=${m} width=${40-r} height=${f}
                style="fill: var(${at[d]})"></rect>`})}
            <text x=${l*40+20} y=${s+15} text-anchor="middle" font-size="11"
              style="fill: var(--secondary-text-color)">${K(this.hass,i.start/1e3,{day:"numeric"})}</text>`})}
      </svg>
      <ul class="chips">
        ${E.map((i,l)=>n`<li style="border-color: var(${at[l]})">${this.say(`usage.${i}`)}</li>`)}
      </ul>
    `}table(t,e){let s=Object.keys(e).length>0,r=i=>E.reduce((l,m)=>l+(i.counts[m]??0)*(e[m]??0)/1e6,0),a={style:"currency",currency:this.hass.config.currency};return n`<table>
      <tr>
        <th scope="col">${this.say("usage.day")}</th>
        <th scope="col">${this.say("usage.requests")}</th>
        <th scope="col">${this.say("usage.tokens")}</th>
        ${s?n`<th scope="col">${this.say("usage.cost")}</th>`:u}
      </tr>
      ${[...t].reverse().map(i=>n`<tr>
            <th scope="row">${K(this.hass,i.start/1e3,{dateStyle:"medium"})}</th>
            <td>${_(this.hass,i.counts.requests??0)}</td>
            <td>
              ${_(this.hass,E.reduce((l,m)=>l+(i.counts[m]??0),0))}
            </td>
            ${s?n`<td>${_(this.hass,r(i),a)}</td>`:u}
          </tr>`)}
    </table>`}};h([$()],P.prototype,"saved",2),P=h([g("extended-assist-usage")],P);var H=100,S=class extends v{constructor(){super(...arguments);this.refresh=6e4;this.search="";this.offset=0}fetch(){return x(this.hass,"visible",{search:this.search,offset:this.offset})}find(t){this.search=t,this.offset=0,this.load()}turn(t){this.offset=t,this.load()}show({rows:t,found:e,exposed:s}){return n`
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
          ${this.say("visible.found",{found:_(this.hass,e),exposed:_(this.hass,s)})}
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
          </div>`:u}
    `}row(t){let e=t.aliases.length?` · ${t.aliases.join(", ")}`:"";return n`<ha-card>
      <h2><button class="link" @click=${()=>G(this,t.entity_id)}>${t.name}</button></h2>
      <p class="faint">${t.entity_id}${t.area?` · ${t.area}`:u}${e}</p>
      ${t.families.length?n`<ul class="chips" aria-label=${this.say("visible.read_by")}>
            ${t.families.map(s=>n`<li>
                  ${this.hass.localize(`component.extended_assist.selector.families.options.${s}`)||s}
                </li>`)}
          </ul>`:u}
      ${t.reasons.map(s=>n`<p class="error">${this.say(`visible.why_${s}`)}</p>`)}
    </ha-card>`}};h([$()],S.prototype,"search",2),S=h([g("extended-assist-visible")],S);var ot=["journal","standing","memory","questions"],ct=["usage","visible","tools"],w=class extends W{constructor(){super(...arguments);this.narrow=!1;this.language=""}willUpdate(t){let{language:e}=this.hass;t.has("hass")&&e!==this.language&&Y(this.hass).then(()=>{this.language=e})}go(t,e){t.ctrlKey||t.metaKey||t.shiftKey||(t.preventDefault(),history.pushState(null,"",e),window.dispatchEvent(new CustomEvent("location-changed",{detail:{replace:!1}})))}render(){if(!this.language)return u;let{hass:t}=this,e=t.user?.is_admin?[...ot,...ct]:ot,s=this.route?.path.split("/")[1]??"",r=e.includes(s)?s:"journal";return n`
      <header>
        <div class="title">
          <ha-menu-button .hass=${t} .narrow=${this.narrow}></ha-menu-button>
          <h1>${j(t,"panel.title")}</h1>
        </div>
        <nav aria-label=${j(t,"panel.title")}>
          ${e.map(a=>{let i=`${this.route?.prefix??"/extended-assist"}/${a}`;return n`<a
              href=${i}
              aria-current=${a===r?"page":u}
              @click=${l=>this.go(l,i)}
              >${j(t,`panel.${a}`)}</a
            >`})}
        </nav>
      </header>
      <main>${this.view(r)}</main>
    `}view(t){let{hass:e}=this;switch(t){case"standing":return n`<extended-assist-standing .hass=${e}></extended-assist-standing>`;case"memory":return n`<extended-assist-memory .hass=${e}></extended-assist-memory>`;case"questions":return n`<extended-assist-questions .hass=${e}></extended-assist-questions>`;case"usage":return n`<extended-assist-usage .hass=${e}></extended-assist-usage>`;case"visible":return n`<extended-assist-visible .hass=${e}></extended-assist-visible>`;case"tools":return n`<extended-assist-tools .hass=${e}></extended-assist-tools>`;default:return n`<extended-assist-journal .hass=${e}></extended-assist-journal>`}}};w.styles=[J,F`
      :host {
        min-height: 100vh;
        background: var(--primary-background-color);
      }
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
      h1 {
        margin: 0 12px;
        font: inherit;
      }
      nav {
        display: flex;
        overflow-x: auto;
        scrollbar-width: thin;
      }
      header nav a {
        flex: none;
        padding: 12px 16px;
        color: inherit;
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      header nav a[aria-current] {
        border-bottom-color: currentcolor;
        font-weight: var(--ha-font-weight-medium, 500);
      }
      header nav a:focus-visible {
        outline-color: currentcolor;
        outline-offset: -4px;
      }
      main {
        box-sizing: border-box;
        max-width: 840px;
        margin: 0 auto;
        padding: 16px 16px 48px;
      }
    `],h([M({attribute:!1})],w.prototype,"hass",2),h([M({type:Boolean,reflect:!0})],w.prototype,"narrow",2),h([M({attribute:!1})],w.prototype,"route",2),h([$()],w.prototype,"language",2),w=h([g("extended-assist-panel")],w);export{w as AssistantPanel};
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
