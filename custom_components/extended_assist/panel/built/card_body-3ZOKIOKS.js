import{a,b as g,c as i,g as n,i as u,j as m,k as p,l as o,m as f,n as l,p as v,t as b}from"./chunk-3557XIQF.js";var x=3,s=class extends u{constructor(){super(...arguments);this.language="";this.answer="";this.error="";this.busy=!1;this.conversation=null}willUpdate(){let{hass:t}=this;t&&t.language!==this.language&&f(t).then(()=>{this.language=t.language})}async ask(t){t.preventDefault();let{hass:e,config:r}=this,d=t.target,h=String(new FormData(d).get("words")??"").trim();if(!(!e||!h||this.busy)){this.busy=!0,this.error="";try{let c=await e.callWS({type:"conversation/process",text:h,language:e.language,conversation_id:this.conversation,...r?.agent_id?{agent_id:r.agent_id}:{}});this.conversation=c.conversation_id,this.answer=c.response.speech.plain?.speech??"",d.reset();for(let $ of this.renderRoot.querySelectorAll(".list > *"))$.load()}catch(c){this.error=v(e,c)}this.busy=!1}}render(){let{hass:t,config:e}=this;if(!t||!e||!this.language)return n;let r=l(t,"card.ask");return i`<ha-card>
      ${e.title?i`<h2>${e.title}</h2>`:n}
      <form class="asking" @submit=${this.ask}>
        <input name="words" maxlength="2000" autocomplete="off" placeholder=${r} aria-label=${r} />
        <button class="main" ?disabled=${this.busy}>${l(t,"card.send")}</button>
      </form>
      <p class="lines" role="status" aria-busy=${this.busy}>${this.answer}</p>
      ${this.error?i`<p class="error" role="alert">${this.error}</p>`:n}
      ${e.standing===!1?n:i`<h2 class="about">${l(t,"card.standing")}</h2>
            <div class="list"><extended-assist-standing .limit=${x} .hass=${t}></extended-assist-standing></div>`}
      ${e.journal===!1?n:i`<h2 class="about">${l(t,"card.last")}</h2>
            <div class="list"><extended-assist-journal .limit=${x} .hass=${t}></extended-assist-journal></div>`}
    </ha-card>`}};s.styles=[b,g`
      .asking { display: flex; gap: 8px; }
      .asking input { flex: 1; min-width: 0; }
      .list {
        --ha-card-border-width: 0;
        --ha-card-box-shadow: none;
        --ha-card-background: transparent;
        --assistant-padding: 4px 16px;
        --assistant-gap: 0;
        margin: 0 -16px;
      }
      .about { margin: 16px 0 0; }
    `],a([p({attribute:!1})],s.prototype,"hass",2),a([p({attribute:!1})],s.prototype,"config",2),a([o()],s.prototype,"language",2),a([o()],s.prototype,"answer",2),a([o()],s.prototype,"error",2),a([o()],s.prototype,"busy",2),s=a([m("extended-assist-card-body")],s);export{s as CardBody};
