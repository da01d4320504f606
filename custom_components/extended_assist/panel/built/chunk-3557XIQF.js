var Mt=Object.defineProperty;var jt=Object.getOwnPropertyDescriptor;var u=(i,t,e,s)=>{for(var r=s>1?void 0:s?jt(t,e):t,o=i.length-1,n;o>=0;o--)(n=i[o])&&(r=(s?n(t,e,r):n(r))||r);return s&&r&&Mt(t,e,r),r};var W=globalThis,F=W.ShadowRoot&&(W.ShadyCSS===void 0||W.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,ot=Symbol(),yt=new WeakMap,U=class{constructor(t,e,s){if(this._$cssResult$=!0,s!==ot)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=t,this.t=e}get styleSheet(){let t=this.o,e=this.t;if(F&&t===void 0){let s=e!==void 0&&e.length===1;s&&(t=yt.get(e)),t===void 0&&((this.o=t=new CSSStyleSheet).replaceSync(this.cssText),s&&yt.set(e,t))}return t}toString(){return this.cssText}},vt=i=>new U(typeof i=="string"?i:i+"",void 0,ot),nt=(i,...t)=>{let e=i.length===1?i[0]:t.reduce((s,r,o)=>s+(n=>{if(n._$cssResult$===!0)return n.cssText;if(typeof n=="number")return n;throw Error("Value passed to 'css' function must be a 'css' function result: "+n+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(r)+i[o+1],i[0]);return new U(e,i,ot)},bt=(i,t)=>{if(F)i.adoptedStyleSheets=t.map(e=>e instanceof CSSStyleSheet?e:e.styleSheet);else for(let e of t){let s=document.createElement("style"),r=W.litNonce;r!==void 0&&s.setAttribute("nonce",r),s.textContent=e.cssText,i.appendChild(s)}},at=F?i=>i:i=>i instanceof CSSStyleSheet?(t=>{let e="";for(let s of t.cssRules)e+=s.cssText;return vt(e)})(i):i;var{is:qt,defineProperty:zt,getOwnPropertyDescriptor:Lt,getOwnPropertyNames:Dt,getOwnPropertySymbols:Bt,getPrototypeOf:It}=Object,K=globalThis,_t=K.trustedTypes,Wt=_t?_t.emptyScript:"",Ft=K.reactiveElementPolyfillSupport,N=(i,t)=>i,M={toAttribute(i,t){switch(t){case Boolean:i=i?Wt:null;break;case Object:case Array:i=i==null?i:JSON.stringify(i)}return i},fromAttribute(i,t){let e=i;switch(t){case Boolean:e=i!==null;break;case Number:e=i===null?null:Number(i);break;case Object:case Array:try{e=JSON.parse(i)}catch{e=null}}return e}},V=(i,t)=>!qt(i,t),xt={attribute:!0,type:String,converter:M,reflect:!1,useDefault:!1,hasChanged:V};Symbol.metadata??=Symbol("metadata"),K.litPropertyMetadata??=new WeakMap;var b=class extends HTMLElement{static addInitializer(t){this._$Ei(),(this.l??=[]).push(t)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(t,e=xt){if(e.state&&(e.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(t)&&((e=Object.create(e)).wrapped=!0),this.elementProperties.set(t,e),!e.noAccessor){let s=Symbol(),r=this.getPropertyDescriptor(t,s,e);r!==void 0&&zt(this.prototype,t,r)}}static getPropertyDescriptor(t,e,s){let{get:r,set:o}=Lt(this.prototype,t)??{get(){return this[e]},set(n){this[e]=n}};return{get:r,set(n){let l=r?.call(this);o?.call(this,n),this.requestUpdate(t,l,s)},configurable:!0,enumerable:!0}}static getPropertyOptions(t){return this.elementProperties.get(t)??xt}static _$Ei(){if(this.hasOwnProperty(N("elementProperties")))return;let t=It(this);t.finalize(),t.l!==void 0&&(this.l=[...t.l]),this.elementProperties=new Map(t.elementProperties)}static finalize(){if(this.hasOwnProperty(N("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(N("properties"))){let e=this.properties,s=[...Dt(e),...Bt(e)];for(let r of s)this.createProperty(r,e[r])}let t=this[Symbol.metadata];if(t!==null){let e=litPropertyMetadata.get(t);if(e!==void 0)for(let[s,r]of e)this.elementProperties.set(s,r)}this._$Eh=new Map;for(let[e,s]of this.elementProperties){let r=this._$Eu(e,s);r!==void 0&&this._$Eh.set(r,e)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(t){let e=[];if(Array.isArray(t)){let s=new Set(t.flat(1/0).reverse());for(let r of s)e.unshift(at(r))}else t!==void 0&&e.push(at(t));return e}static _$Eu(t,e){let s=e.attribute;return s===!1?void 0:typeof s=="string"?s:typeof t=="string"?t.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(t=>this.enableUpdating=t),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(t=>t(this))}addController(t){(this._$EO??=new Set).add(t),this.renderRoot!==void 0&&this.isConnected&&t.hostConnected?.()}removeController(t){this._$EO?.delete(t)}_$E_(){let t=new Map,e=this.constructor.elementProperties;for(let s of e.keys())this.hasOwnProperty(s)&&(t.set(s,this[s]),delete this[s]);t.size>0&&(this._$Ep=t)}createRenderRoot(){let t=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return bt(t,this.constructor.elementStyles),t}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(t=>t.hostConnected?.())}enableUpdating(t){}disconnectedCallback(){this._$EO?.forEach(t=>t.hostDisconnected?.())}attributeChangedCallback(t,e,s){this._$AK(t,s)}_$ET(t,e){let s=this.constructor.elementProperties.get(t),r=this.constructor._$Eu(t,s);if(r!==void 0&&s.reflect===!0){let o=(s.converter?.toAttribute!==void 0?s.converter:M).toAttribute(e,s.type);this._$Em=t,o==null?this.removeAttribute(r):this.setAttribute(r,o),this._$Em=null}}_$AK(t,e){let s=this.constructor,r=s._$Eh.get(t);if(r!==void 0&&this._$Em!==r){let o=s.getPropertyOptions(r),n=typeof o.converter=="function"?{fromAttribute:o.converter}:o.converter?.fromAttribute!==void 0?o.converter:M;this._$Em=r;let l=n.fromAttribute(e,o.type);this[r]=l??this._$Ej?.get(r)??l,this._$Em=null}}requestUpdate(t,e,s,r=!1,o){if(t!==void 0){let n=this.constructor;if(r===!1&&(o=this[t]),s??=n.getPropertyOptions(t),!((s.hasChanged??V)(o,e)||s.useDefault&&s.reflect&&o===this._$Ej?.get(t)&&!this.hasAttribute(n._$Eu(t,s))))return;this.C(t,e,s)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(t,e,{useDefault:s,reflect:r,wrapped:o},n){s&&!(this._$Ej??=new Map).has(t)&&(this._$Ej.set(t,n??e??this[t]),o!==!0||n!==void 0)||(this._$AL.has(t)||(this.hasUpdated||s||(e=void 0),this._$AL.set(t,e)),r===!0&&this._$Em!==t&&(this._$Eq??=new Set).add(t))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(e){Promise.reject(e)}let t=this.scheduleUpdate();return t!=null&&await t,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[r,o]of this._$Ep)this[r]=o;this._$Ep=void 0}let s=this.constructor.elementProperties;if(s.size>0)for(let[r,o]of s){let{wrapped:n}=o,l=this[r];n!==!0||this._$AL.has(r)||l===void 0||this.C(r,void 0,o,l)}}let t=!1,e=this._$AL;try{t=this.shouldUpdate(e),t?(this.willUpdate(e),this._$EO?.forEach(s=>s.hostUpdate?.()),this.update(e)):this._$EM()}catch(s){throw t=!1,this._$EM(),s}t&&this._$AE(e)}willUpdate(t){}_$AE(t){this._$EO?.forEach(e=>e.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(t)),this.updated(t)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(t){return!0}update(t){this._$Eq&&=this._$Eq.forEach(e=>this._$ET(e,this[e])),this._$EM()}updated(t){}firstUpdated(t){}};b.elementStyles=[],b.shadowRootOptions={mode:"open"},b[N("elementProperties")]=new Map,b[N("finalized")]=new Map,Ft?.({ReactiveElement:b}),(K.reactiveElementVersions??=[]).push("2.1.2");var dt=globalThis,At=i=>i,Z=dt.trustedTypes,wt=Z?Z.createPolicy("lit-html",{createHTML:i=>i}):void 0,ct="$lit$",_=`lit$${Math.random().toFixed(9).slice(2)}$`,ht="?"+_,Kt=`<${ht}>`,k=document,q=()=>k.createComment(""),z=i=>i===null||typeof i!="object"&&typeof i!="function",pt=Array.isArray,Rt=i=>pt(i)||typeof i?.[Symbol.iterator]=="function",lt=`[ 	
\f\r]`,j=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,St=/-->/g,Et=/>/g,S=RegExp(`>|${lt}(?:([^\\s"'>=/]+)(${lt}*=${lt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),kt=/'/g,Ct=/"/g,Tt=/^(?:script|style|textarea|title)$/i,ut=i=>(t,...e)=>({_$litType$:i,strings:t,values:e}),c=ut(1),ie=ut(2),oe=ut(3),C=Symbol.for("lit-noChange"),d=Symbol.for("lit-nothing"),Pt=new WeakMap,E=k.createTreeWalker(k,129);function Ot(i,t){if(!pt(i)||!i.hasOwnProperty("raw"))throw Error("invalid template strings array");return wt!==void 0?wt.createHTML(t):t}var Ht=(i,t)=>{let e=i.length-1,s=[],r,o=t===2?"<svg>":t===3?"<math>":"",n=j;for(let l=0;l<e;l++){let a=i[l],p,m,h=-1,v=0;for(;v<a.length&&(n.lastIndex=v,m=n.exec(a),m!==null);)v=n.lastIndex,n===j?m[1]==="!--"?n=St:m[1]!==void 0?n=Et:m[2]!==void 0?(Tt.test(m[2])&&(r=RegExp("</"+m[2],"g")),n=S):m[3]!==void 0&&(n=S):n===S?m[0]===">"?(n=r??j,h=-1):m[1]===void 0?h=-2:(h=n.lastIndex-m[2].length,p=m[1],n=m[3]===void 0?S:m[3]==='"'?Ct:kt):n===Ct||n===kt?n=S:n===St||n===Et?n=j:(n=S,r=void 0);let x=n===S&&i[l+1].startsWith("/>")?" ":"";o+=n===j?a+Kt:h>=0?(s.push(p),a.slice(0,h)+ct+a.slice(h)+_+x):a+_+(h===-2?l:x)}return[Ot(i,o+(i[e]||"<?>")+(t===2?"</svg>":t===3?"</math>":"")),s]},L=class i{constructor({strings:t,_$litType$:e},s){let r;this.parts=[];let o=0,n=0,l=t.length-1,a=this.parts,[p,m]=Ht(t,e);if(this.el=i.createElement(p,s),E.currentNode=this.el.content,e===2||e===3){let h=this.el.content.firstChild;h.replaceWith(...h.childNodes)}for(;(r=E.nextNode())!==null&&a.length<l;){if(r.nodeType===1){if(r.hasAttributes())for(let h of r.getAttributeNames())if(h.endsWith(ct)){let v=m[n++],x=r.getAttribute(h).split(_),I=/([.?@])?(.*)/.exec(v);a.push({type:1,index:o,name:I[2],strings:x,ctor:I[1]==="."?J:I[1]==="?"?Q:I[1]==="@"?X:R}),r.removeAttribute(h)}else h.startsWith(_)&&(a.push({type:6,index:o}),r.removeAttribute(h));if(Tt.test(r.tagName)){let h=r.textContent.split(_),v=h.length-1;if(v>0){r.textContent=Z?Z.emptyScript:"";for(let x=0;x<v;x++)r.append(h[x],q()),E.nextNode(),a.push({type:2,index:++o});r.append(h[v],q())}}}else if(r.nodeType===8)if(r.data===ht)a.push({type:2,index:o});else{let h=-1;for(;(h=r.data.indexOf(_,h+1))!==-1;)a.push({type:7,index:o}),h+=_.length-1}o++}}static createElement(t,e){let s=k.createElement("template");return s.innerHTML=t,s}};function P(i,t,e=i,s){if(t===C)return t;let r=s!==void 0?e._$Co?.[s]:e._$Cl,o=z(t)?void 0:t._$litDirective$;return r?.constructor!==o&&(r?._$AO?.(!1),o===void 0?r=void 0:(r=new o(i),r._$AT(i,e,s)),s!==void 0?(e._$Co??=[])[s]=r:e._$Cl=r),r!==void 0&&(t=P(i,r._$AS(i,t.values),r,s)),t}var G=class{constructor(t,e){this._$AV=[],this._$AN=void 0,this._$AD=t,this._$AM=e}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(t){let{el:{content:e},parts:s}=this._$AD,r=(t?.creationScope??k).importNode(e,!0);E.currentNode=r;let o=E.nextNode(),n=0,l=0,a=s[0];for(;a!==void 0;){if(n===a.index){let p;a.type===2?p=new O(o,o.nextSibling,this,t):a.type===1?p=new a.ctor(o,a.name,a.strings,this,t):a.type===6&&(p=new Y(o,this,t)),this._$AV.push(p),a=s[++l]}n!==a?.index&&(o=E.nextNode(),n++)}return E.currentNode=k,r}p(t){let e=0;for(let s of this._$AV)s!==void 0&&(s.strings!==void 0?(s._$AI(t,s,e),e+=s.strings.length-2):s._$AI(t[e])),e++}},O=class i{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(t,e,s,r){this.type=2,this._$AH=d,this._$AN=void 0,this._$AA=t,this._$AB=e,this._$AM=s,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let t=this._$AA.parentNode,e=this._$AM;return e!==void 0&&t?.nodeType===11&&(t=e.parentNode),t}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(t,e=this){t=P(this,t,e),z(t)?t===d||t==null||t===""?(this._$AH!==d&&this._$AR(),this._$AH=d):t!==this._$AH&&t!==C&&this._(t):t._$litType$!==void 0?this.$(t):t.nodeType!==void 0?this.T(t):Rt(t)?this.k(t):this._(t)}O(t){return this._$AA.parentNode.insertBefore(t,this._$AB)}T(t){this._$AH!==t&&(this._$AR(),this._$AH=this.O(t))}_(t){this._$AH!==d&&z(this._$AH)?this._$AA.nextSibling.data=t:this.T(k.createTextNode(t)),this._$AH=t}$(t){let{values:e,_$litType$:s}=t,r=typeof s=="number"?this._$AC(t):(s.el===void 0&&(s.el=L.createElement(Ot(s.h,s.h[0]),this.options)),s);if(this._$AH?._$AD===r)this._$AH.p(e);else{let o=new G(r,this),n=o.u(this.options);o.p(e),this.T(n),this._$AH=o}}_$AC(t){let e=Pt.get(t.strings);return e===void 0&&Pt.set(t.strings,e=new L(t)),e}k(t){pt(this._$AH)||(this._$AH=[],this._$AR());let e=this._$AH,s,r=0;for(let o of t)r===e.length?e.push(s=new i(this.O(q()),this.O(q()),this,this.options)):s=e[r],s._$AI(o),r++;r<e.length&&(this._$AR(s&&s._$AB.nextSibling,r),e.length=r)}_$AR(t=this._$AA.nextSibling,e){for(this._$AP?.(!1,!0,e);t!==this._$AB;){let s=At(t).nextSibling;At(t).remove(),t=s}}setConnected(t){this._$AM===void 0&&(this._$Cv=t,this._$AP?.(t))}},R=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(t,e,s,r,o){this.type=1,this._$AH=d,this._$AN=void 0,this.element=t,this.name=e,this._$AM=r,this.options=o,s.length>2||s[0]!==""||s[1]!==""?(this._$AH=Array(s.length-1).fill(new String),this.strings=s):this._$AH=d}_$AI(t,e=this,s,r){let o=this.strings,n=!1;if(o===void 0)t=P(this,t,e,0),n=!z(t)||t!==this._$AH&&t!==C,n&&(this._$AH=t);else{let l=t,a,p;for(t=o[0],a=0;a<o.length-1;a++)p=P(this,l[s+a],e,a),p===C&&(p=this._$AH[a]),n||=!z(p)||p!==this._$AH[a],p===d?t=d:t!==d&&(t+=(p??"")+o[a+1]),this._$AH[a]=p}n&&!r&&this.j(t)}j(t){t===d?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,t??"")}},J=class extends R{constructor(){super(...arguments),this.type=3}j(t){this.element[this.name]=t===d?void 0:t}},Q=class extends R{constructor(){super(...arguments),this.type=4}j(t){this.element.toggleAttribute(this.name,!!t&&t!==d)}},X=class extends R{constructor(t,e,s,r,o){super(t,e,s,r,o),this.type=5}_$AI(t,e=this){if((t=P(this,t,e,0)??d)===C)return;let s=this._$AH,r=t===d&&s!==d||t.capture!==s.capture||t.once!==s.once||t.passive!==s.passive,o=t!==d&&(s===d||r);r&&this.element.removeEventListener(this.name,this,s),o&&this.element.addEventListener(this.name,this,t),this._$AH=t}handleEvent(t){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,t):this._$AH.handleEvent(t)}},Y=class{constructor(t,e,s){this.element=t,this.type=6,this._$AN=void 0,this._$AM=e,this.options=s}get _$AU(){return this._$AM._$AU}_$AI(t){P(this,t)}},ne={M:ct,P:_,A:ht,C:1,L:Ht,R:G,D:Rt,V:P,I:O,H:R,N:Q,U:X,B:J,F:Y},Vt=dt.litHtmlPolyfillSupport;Vt?.(L,O),(dt.litHtmlVersions??=[]).push("3.3.3");var Ut=(i,t,e)=>{let s=e?.renderBefore??t,r=s._$litPart$;if(r===void 0){let o=e?.renderBefore??null;s._$litPart$=r=new O(t.insertBefore(q(),o),o,void 0,e??{})}return r._$AI(i),r};var mt=globalThis,$=class extends b{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let t=super.createRenderRoot();return this.renderOptions.renderBefore??=t.firstChild,t}update(t){let e=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(t),this._$Do=Ut(e,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return C}};$._$litElement$=!0,$.finalized=!0,mt.litElementHydrateSupport?.({LitElement:$});var Zt=mt.litElementPolyfillSupport;Zt?.({LitElement:$});(mt.litElementVersions??=[]).push("4.2.2");var H=i=>(t,e)=>{e!==void 0?e.addInitializer(()=>{customElements.define(i,t)}):customElements.define(i,t)};var Gt={attribute:!0,type:String,converter:M,reflect:!1,hasChanged:V},Jt=(i=Gt,t,e)=>{let{kind:s,metadata:r}=e,o=globalThis.litPropertyMetadata.get(r);if(o===void 0&&globalThis.litPropertyMetadata.set(r,o=new Map),s==="setter"&&((i=Object.create(i)).wrapped=!0),o.set(e.name,i),s==="accessor"){let{name:n}=e;return{set(l){let a=t.get.call(this);t.set.call(this,l),this.requestUpdate(n,a,i,!0,l)},init(l){return l!==void 0&&this.C(n,void 0,i,l),l}}}if(s==="setter"){let{name:n}=e;return function(l){let a=this[n];t.call(this,l),this.requestUpdate(n,a,i,!0,l)}}throw Error("Unsupported decorator location: "+s)};function f(i){return(t,e)=>typeof e=="object"?Jt(i,t,e):((s,r,o)=>{let n=r.hasOwnProperty(o);return r.constructor.createProperty(o,s),n?Object.getOwnPropertyDescriptor(r,o):void 0})(i,t,e)}function T(i){return f({...i,state:!0,attribute:!1})}var et="extended_assist",ft,Ke=i=>{let t=e=>i.loadBackendTranslation(e,et);return ft?.language!==i.language&&(ft={language:i.language,loaded:Promise.all(["config_panel","exceptions","selector"].map(t))}),ft.loaded},A=(i,t,e)=>i.localize(`component.${et}.config_panel.${t}`,e),w=(i,t,e={})=>i.callWS({type:`${et}/${t}`,language:i.language,...e}),st=(i,t)=>{let{code:e,message:s,translation_key:r}=t;return r&&i.localize(`component.${et}.exceptions.${r}.message`)||s||e||String(t)},rt=(i,t,e={})=>{let{language:s,time_format:r,time_zone:o}=i.locale;return new Intl.DateTimeFormat(s,{...Object.keys(e).length?e:{dateStyle:"medium",timeStyle:"short"},timeZone:o==="server"?i.config.time_zone:void 0,hour12:r==="12"?!0:r==="24"?!1:void 0}).format(new Date(t*1e3))},gt=(i,t,e={})=>new Intl.NumberFormat(i.locale.language,e).format(t),Nt=(i,t)=>{i.dispatchEvent(new CustomEvent("hass-more-info",{detail:{entityId:t},bubbles:!0,composed:!0}))};var it=nt`
  :host {
    display: block;
    color: var(--primary-text-color);
    font-family: var(--ha-font-family-body, Roboto, sans-serif);
    font-size: var(--ha-font-size-m, 14px);
    line-height: var(--ha-line-height-normal, 1.5);
  }
  ha-card {
    display: block;
    box-sizing: border-box;
    padding: var(--assistant-padding, 16px);
    margin-bottom: var(--assistant-gap, 12px);
    background: var(--ha-card-background, var(--card-background-color));
    border: var(--ha-card-border-width, 1px) solid var(--ha-card-border-color, var(--divider-color));
    border-radius: var(--ha-card-border-radius, 12px);
    overflow-wrap: anywhere;
  }
  h2 { margin: 0 0 4px; font-size: var(--ha-font-size-l, 16px); font-weight: var(--ha-font-weight-medium, 500); }
  p { margin: 4px 0; }
  ul { margin: 8px 0; padding-inline-start: 20px; }
  a { color: inherit; }
  .faint { color: var(--secondary-text-color); }
  .row { display: flex; gap: 12px; align-items: flex-start; justify-content: space-between; }
  .row > :first-child { flex: 1; min-width: 0; }
  .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 8px 0; }
  .lines { white-space: pre-line; }
  .chips { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0 0; padding: 0; list-style: none; }
  .chips li {
    padding: 1px 8px;
    border: 1px solid var(--divider-color);
    border-radius: 999px;
    font-size: var(--ha-font-size-s, 12px);
  }
  .error { border-inline-start: 4px solid var(--error-color); padding-inline-start: 12px; }
  .asked { border-inline-start: 4px solid var(--primary-color); padding-inline-start: 12px; margin-top: 12px; }
  button,
  input,
  select,
  textarea { font: inherit; color: inherit; }
  button {
    min-height: 40px;
    padding: 0 16px;
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 999px;
    background: none;
    cursor: pointer;
    font-weight: var(--ha-font-weight-medium, 500);
  }
  button:hover:not([disabled]) { background: var(--secondary-background-color); }
  button.main { border: 2px solid var(--primary-color); }
  button[disabled] { opacity: 0.5; cursor: default; }
  button.link {
    min-height: 0;
    padding: 0;
    border: 0;
    border-radius: 4px;
    text-align: start;
    font-weight: inherit;
    text-decoration: underline;
    text-decoration-color: var(--divider-color);
    text-underline-offset: 3px;
  }
  label { display: block; margin: 8px 0 4px; }
  input,
  select,
  textarea {
    box-sizing: border-box;
    width: 100%;
    min-height: 44px;
    padding: 8px 12px;
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 8px;
    background: var(--card-background-color);
  }
  textarea { min-height: 96px; resize: vertical; }
  textarea,
  pre { font-family: var(--ha-font-family-code, monospace); font-size: var(--ha-font-size-s, 12px); }
  pre {
    max-height: 480px;
    overflow: auto;
    margin: 8px 0;
    padding: 12px;
    border-radius: 8px;
    background: var(--secondary-background-color);
    white-space: pre-wrap;
  }
  :focus-visible { outline: 2px solid var(--primary-color); outline-offset: 2px; }
  table { width: 100%; border-collapse: collapse; }
  th,
  td { padding: 6px 8px; border-bottom: 1px solid var(--divider-color); text-align: end; font-weight: normal; }
  th:first-child { text-align: start; }
`;var g=class extends ${constructor(){super(...arguments);this.raw=!1;this.still=!1;this.busy=!1;this.error=""}updated(e){let s=e.get("outcome"),r=this.outcome?.question?.id;e.has("outcome")&&r&&r!==s?.question?.id&&!this.still&&this.renderRoot.querySelector(".asked")?.focus()}async answer(e){let s=this.outcome?.question;if(s){this.busy=!0,this.error="";try{let r=await w(this.hass,"questions/answer",{question:s.id,agreed:e});this.dispatchEvent(new CustomEvent("answered",{detail:r}))}catch(r){this.error=st(this.hass,r)}this.busy=!1}}render(){let{outcome:e,hass:s}=this;return c`
      ${this.error?c`<p class="error" role="alert">${this.error}</p>`:d}
      ${e?.question?c`<div class="asked" role="group" tabindex="-1" aria-label=${A(s,"questions.asked")}>
            <p class="lines">${e.question.text}</p>
            <div class="bar">
              <button class="main" ?disabled=${this.busy} @click=${()=>this.answer(!0)}>
                ${A(s,"questions.yes")}
              </button>
              <button ?disabled=${this.busy} @click=${()=>this.answer(!1)}>${A(s,"questions.no")}</button>
            </div>
          </div>`:e?c`<div role="status">
              <p>${A(s,`questions.${e.taken?"taken":e.done?"done":"not_done"}`)}</p>
              ${e.speech?c`<p class="lines">${e.speech}</p>`:d}
              ${e.answer?this.told(e.answer):d}
              ${this.raw&&e.characters!==void 0?c`<p class="faint">
                    ${A(s,"tools.size",{characters:gt(s,e.characters),seconds:gt(s,e.seconds??0,{maximumFractionDigits:3})})}
                  </p>`:d}
            </div>`:d}
    `}told(e){let s=JSON.parse(e);return this.raw?c`<pre tabindex="0">${JSON.stringify(s,null,2)}</pre>`:c`<ul>
      ${$t(this.hass,s).map(r=>c`<li>${r}</li>`)}
    </ul>`}};g.styles=[it],u([f({attribute:!1})],g.prototype,"hass",2),u([f({attribute:!1})],g.prototype,"outcome",2),u([f({type:Boolean})],g.prototype,"raw",2),u([f({type:Boolean})],g.prototype,"still",2),u([T()],g.prototype,"busy",2),u([T()],g.prototype,"error",2),g=u([H("extended-assist-outcome")],g);var $t=(i,t,e="")=>{if(Array.isArray(t))return t.flatMap(r=>$t(i,r,e));if(t&&typeof t=="object")return Object.entries(t).flatMap(([r,o])=>["words_of_others","made_at"].includes(r)?[]:$t(i,o,r));let s=i.states[e]?.attributes?.friendly_name??e.replaceAll("_"," ");return[s?`${String(s)}: ${String(t)}`:String(t)]};var Qt=15e3,y=class extends ${constructor(){super(...arguments);this.error="";this.outcomes={};this.refresh=Qt;this.timer=0;this.look=()=>{document.hidden||this.load()};this.load=async()=>{await this.attempt(async()=>{this.data=await this.fetch()})}}static{this.styles=[it]}connectedCallback(){super.connectedCallback(),document.addEventListener("visibilitychange",this.look),this.timer=window.setInterval(this.look,this.refresh),this.hasUpdated&&this.load()}disconnectedCallback(){super.disconnectedCallback(),document.removeEventListener("visibilitychange",this.look),window.clearInterval(this.timer)}firstUpdated(){this.load()}async attempt(e){try{await e(),this.error=""}catch(s){this.error=st(this.hass,s)}}say(e,s){return A(this.hass,e,s)}render(){return c`
      ${this.error?c`<ha-card><p class="error" role="alert">${this.error}</p></ha-card>`:d}
      ${this.data===void 0?d:this.show(this.data)}
    `}act(e,s,r){return this.attempt(async()=>this.settle(e,await w(this.hass,s,r)))}async settle(e,s){this.outcomes={...this.outcomes,[e]:s},s.question||await this.load()}outcomeOf(e,s,r=!1){let o=this.outcomes[e]??s;return o?c`<extended-assist-outcome
      ?raw=${r}
      ?still=${o===s}
      .hass=${this.hass}
      .outcome=${o}
      @answered=${n=>this.settle(e,n.detail)}
    ></extended-assist-outcome>`:d}empty(e){return c`<ha-card><p class="faint">${this.say(e)}</p></ha-card>`}};u([f({attribute:!1})],y.prototype,"hass",2),u([T()],y.prototype,"data",2),u([T()],y.prototype,"error",2),u([T()],y.prototype,"outcomes",2);var Xt={scheduled:"wish",cancelled:"wish_changed"},D=class extends y{constructor(){super(...arguments);this.limit=0}fetch(){return w(this.hass,"journal/list")}show(e){let s=this.limit?e.slice(0,this.limit):e;return s.length?c`${s.map(r=>this.row(r))}`:this.empty("journal.empty")}row(e){let s=[e.user??this.say(e.user_gone?"journal.removed":"journal.nobody"),e.device].filter(Boolean).join(" · ");return c`<ha-card>
      <div class="row">
        <div>
          <h2>${this.headline(e)}</h2>
          <p class="faint">
            ${rt(this.hass,e.time)} · ${s}${e.undone?` · ${this.say("journal.undone")}`:d}
          </p>
        </div>
        ${e.can_undo?c`<button
              aria-label=${this.say("journal.undo_this",{what:this.headline(e)})}
              @click=${()=>this.act(e.id,"journal/undo",{change:e.id})}
            >
              ${this.say("journal.undo")}
            </button>`:d}
      </div>
      ${e.entities.length?c`<ul>
            ${e.entities.map(r=>c`<li>
                  <button class="link" @click=${()=>Nt(this,r.entity_id)}>${r.name}</button>
                  ${this.values(r)}
                </li>`)}
          </ul>`:d}
      ${e.more?c`<p class="faint">${this.say("journal.more",{count:e.more})}</p>`:d}
      ${this.outcomeOf(e.id)}
    </ha-card>`}headline(e){if(e.kind==="states")return e.action||this.say("journal.kind_states");let s=this.say(`journal.kind_${Xt[e.kind]??e.kind}`)||e.action;return e.title?`${s}: ${e.title}`:s}values({entity_id:e,changes:s}){let r=this.hass.states[e],o=(n,l)=>l==null?"–":r?n==="state"?this.hass.formatEntityState(r,String(l)):this.hass.formatEntityAttributeValue(r,n,l):String(l);return s.map(({name:n,before:l,after:a})=>`${n==="state"||!r?"":`${this.hass.formatEntityAttributeName(r,n)} `}${o(n,l)} → ${o(n,a)}`).join(", ")}};u([f({type:Number})],D.prototype,"limit",2),D=u([H("extended-assist-journal")],D);var B=class extends y{constructor(){super(...arguments);this.limit=0}fetch(){return w(this.hass,"wishes/list")}show(e){let s=this.limit?e.slice(0,this.limit):e;return s.length?c`${s.map(r=>this.row(r))}`:this.empty("standing.empty")}row(e){let s=e.next?rt(this.hass,e.next):this.say("standing.waits"),r=e.is_own?this.say("standing.own"):e.user??this.say("standing.household");return c`<ha-card>
      <div class="row">
        <div>
          <h2>${e.name}</h2>
          <p class="faint">${s} · ${r}</p>
        </div>
        <button aria-label=${this.say("standing.cancel_this",{what:e.name})} @click=${()=>this.act(e.id,"wishes/cancel",{wish:e.id})}>
          ${this.say("standing.cancel")}
        </button>
      </div>
      ${e.lines.map(o=>o===e.name?d:c`<p class="lines">${o}</p>`)}
      ${e.in_vain?c`<p class="error">${this.say("standing.in_vain")}</p>`:d}
      ${e.result?c`<p class="faint">${this.say("standing.last",{result:e.result})}</p>`:d}
      ${this.outcomeOf(e.id)}
    </ha-card>`}};u([f({type:Number})],B.prototype,"limit",2),B=u([H("extended-assist-standing")],B);export{u as a,nt as b,c,ie as d,oe as e,C as f,d as g,ne as h,$ as i,H as j,f as k,T as l,Ke as m,A as n,w as o,st as p,rt as q,gt as r,Nt as s,it as t,y as u};
/*! Bundled license information:

@lit/reactive-element/css-tag.js:
  (**
   * @license
   * Copyright 2019 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/reactive-element.js:
lit-html/lit-html.js:
lit-element/lit-element.js:
@lit/reactive-element/decorators/custom-element.js:
@lit/reactive-element/decorators/property.js:
@lit/reactive-element/decorators/state.js:
@lit/reactive-element/decorators/event-options.js:
@lit/reactive-element/decorators/base.js:
@lit/reactive-element/decorators/query.js:
@lit/reactive-element/decorators/query-all.js:
@lit/reactive-element/decorators/query-async.js:
@lit/reactive-element/decorators/query-assigned-nodes.js:
  (**
   * @license
   * Copyright 2017 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

lit-html/is-server.js:
  (**
   * @license
   * Copyright 2022 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)

@lit/reactive-element/decorators/query-assigned-elements.js:
  (**
   * @license
   * Copyright 2021 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
