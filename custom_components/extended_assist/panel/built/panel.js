var de=Object.defineProperty;var pe=Object.getOwnPropertyDescriptor;var p=(i,e,t,s)=>{for(var r=s>1?void 0:s?pe(e,t):e,o=i.length-1,n;o>=0;o--)(n=i[o])&&(r=(s?n(e,t,r):n(r))||r);return s&&r&&de(e,t,r),r};var it=globalThis,ot=it.ShadowRoot&&(it.ShadyCSS===void 0||it.ShadyCSS.nativeShadow)&&"adoptedStyleSheets"in Document.prototype&&"replace"in CSSStyleSheet.prototype,xt=Symbol(),jt=new WeakMap,K=class{constructor(e,t,s){if(this._$cssResult$=!0,s!==xt)throw Error("CSSResult is not constructable. Use `unsafeCSS` or `css` instead.");this.cssText=e,this.t=t}get styleSheet(){let e=this.o,t=this.t;if(ot&&e===void 0){let s=t!==void 0&&t.length===1;s&&(e=jt.get(t)),e===void 0&&((this.o=e=new CSSStyleSheet).replaceSync(this.cssText),s&&jt.set(t,e))}return e}toString(){return this.cssText}},Nt=i=>new K(typeof i=="string"?i:i+"",void 0,xt),Y=(i,...e)=>{let t=i.length===1?i[0]:e.reduce((s,r,o)=>s+(n=>{if(n._$cssResult$===!0)return n.cssText;if(typeof n=="number")return n;throw Error("Value passed to 'css' function must be a 'css' function result: "+n+". Use 'unsafeCSS' to pass non-literal values, but take care to ensure page security.")})(r)+i[o+1],i[0]);return new K(t,i,xt)},Ut=(i,e)=>{if(ot)i.adoptedStyleSheets=e.map(t=>t instanceof CSSStyleSheet?t:t.styleSheet);else for(let t of e){let s=document.createElement("style"),r=it.litNonce;r!==void 0&&s.setAttribute("nonce",r),s.textContent=t.cssText,i.appendChild(s)}},At=ot?i=>i:i=>i instanceof CSSStyleSheet?(e=>{let t="";for(let s of e.cssRules)t+=s.cssText;return Nt(t)})(i):i;var{is:ue,defineProperty:me,getOwnPropertyDescriptor:fe,getOwnPropertyNames:ge,getOwnPropertySymbols:$e,getPrototypeOf:ye}=Object,nt=globalThis,qt=nt.trustedTypes,ve=qt?qt.emptyScript:"",be=nt.reactiveElementPolyfillSupport,G=(i,e)=>i,Z={toAttribute(i,e){switch(e){case Boolean:i=i?ve:null;break;case Object:case Array:i=i==null?i:JSON.stringify(i)}return i},fromAttribute(i,e){let t=i;switch(e){case Boolean:t=i!==null;break;case Number:t=i===null?null:Number(i);break;case Object:case Array:try{t=JSON.parse(i)}catch{t=null}}return t}},at=(i,e)=>!ue(i,e),Dt={attribute:!0,type:String,converter:Z,reflect:!1,useDefault:!1,hasChanged:at};Symbol.metadata??=Symbol("metadata"),nt.litPropertyMetadata??=new WeakMap;var T=class extends HTMLElement{static addInitializer(e){this._$Ei(),(this.l??=[]).push(e)}static get observedAttributes(){return this.finalize(),this._$Eh&&[...this._$Eh.keys()]}static createProperty(e,t=Dt){if(t.state&&(t.attribute=!1),this._$Ei(),this.prototype.hasOwnProperty(e)&&((t=Object.create(t)).wrapped=!0),this.elementProperties.set(e,t),!t.noAccessor){let s=Symbol(),r=this.getPropertyDescriptor(e,s,t);r!==void 0&&me(this.prototype,e,r)}}static getPropertyDescriptor(e,t,s){let{get:r,set:o}=fe(this.prototype,e)??{get(){return this[t]},set(n){this[t]=n}};return{get:r,set(n){let a=r?.call(this);o?.call(this,n),this.requestUpdate(e,a,s)},configurable:!0,enumerable:!0}}static getPropertyOptions(e){return this.elementProperties.get(e)??Dt}static _$Ei(){if(this.hasOwnProperty(G("elementProperties")))return;let e=ye(this);e.finalize(),e.l!==void 0&&(this.l=[...e.l]),this.elementProperties=new Map(e.elementProperties)}static finalize(){if(this.hasOwnProperty(G("finalized")))return;if(this.finalized=!0,this._$Ei(),this.hasOwnProperty(G("properties"))){let t=this.properties,s=[...ge(t),...$e(t)];for(let r of s)this.createProperty(r,t[r])}let e=this[Symbol.metadata];if(e!==null){let t=litPropertyMetadata.get(e);if(t!==void 0)for(let[s,r]of t)this.elementProperties.set(s,r)}this._$Eh=new Map;for(let[t,s]of this.elementProperties){let r=this._$Eu(t,s);r!==void 0&&this._$Eh.set(r,t)}this.elementStyles=this.finalizeStyles(this.styles)}static finalizeStyles(e){let t=[];if(Array.isArray(e)){let s=new Set(e.flat(1/0).reverse());for(let r of s)t.unshift(At(r))}else e!==void 0&&t.push(At(e));return t}static _$Eu(e,t){let s=t.attribute;return s===!1?void 0:typeof s=="string"?s:typeof e=="string"?e.toLowerCase():void 0}constructor(){super(),this._$Ep=void 0,this.isUpdatePending=!1,this.hasUpdated=!1,this._$Em=null,this._$Ev()}_$Ev(){this._$ES=new Promise(e=>this.enableUpdating=e),this._$AL=new Map,this._$E_(),this.requestUpdate(),this.constructor.l?.forEach(e=>e(this))}addController(e){(this._$EO??=new Set).add(e),this.renderRoot!==void 0&&this.isConnected&&e.hostConnected?.()}removeController(e){this._$EO?.delete(e)}_$E_(){let e=new Map,t=this.constructor.elementProperties;for(let s of t.keys())this.hasOwnProperty(s)&&(e.set(s,this[s]),delete this[s]);e.size>0&&(this._$Ep=e)}createRenderRoot(){let e=this.shadowRoot??this.attachShadow(this.constructor.shadowRootOptions);return Ut(e,this.constructor.elementStyles),e}connectedCallback(){this.renderRoot??=this.createRenderRoot(),this.enableUpdating(!0),this._$EO?.forEach(e=>e.hostConnected?.())}enableUpdating(e){}disconnectedCallback(){this._$EO?.forEach(e=>e.hostDisconnected?.())}attributeChangedCallback(e,t,s){this._$AK(e,s)}_$ET(e,t){let s=this.constructor.elementProperties.get(e),r=this.constructor._$Eu(e,s);if(r!==void 0&&s.reflect===!0){let o=(s.converter?.toAttribute!==void 0?s.converter:Z).toAttribute(t,s.type);this._$Em=e,o==null?this.removeAttribute(r):this.setAttribute(r,o),this._$Em=null}}_$AK(e,t){let s=this.constructor,r=s._$Eh.get(e);if(r!==void 0&&this._$Em!==r){let o=s.getPropertyOptions(r),n=typeof o.converter=="function"?{fromAttribute:o.converter}:o.converter?.fromAttribute!==void 0?o.converter:Z;this._$Em=r;let a=n.fromAttribute(t,o.type);this[r]=a??this._$Ej?.get(r)??a,this._$Em=null}}requestUpdate(e,t,s,r=!1,o){if(e!==void 0){let n=this.constructor;if(r===!1&&(o=this[e]),s??=n.getPropertyOptions(e),!((s.hasChanged??at)(o,t)||s.useDefault&&s.reflect&&o===this._$Ej?.get(e)&&!this.hasAttribute(n._$Eu(e,s))))return;this.C(e,t,s)}this.isUpdatePending===!1&&(this._$ES=this._$EP())}C(e,t,{useDefault:s,reflect:r,wrapped:o},n){s&&!(this._$Ej??=new Map).has(e)&&(this._$Ej.set(e,n??t??this[e]),o!==!0||n!==void 0)||(this._$AL.has(e)||(this.hasUpdated||s||(t=void 0),this._$AL.set(e,t)),r===!0&&this._$Em!==e&&(this._$Eq??=new Set).add(e))}async _$EP(){this.isUpdatePending=!0;try{await this._$ES}catch(t){Promise.reject(t)}let e=this.scheduleUpdate();return e!=null&&await e,!this.isUpdatePending}scheduleUpdate(){return this.performUpdate()}performUpdate(){if(!this.isUpdatePending)return;if(!this.hasUpdated){if(this.renderRoot??=this.createRenderRoot(),this._$Ep){for(let[r,o]of this._$Ep)this[r]=o;this._$Ep=void 0}let s=this.constructor.elementProperties;if(s.size>0)for(let[r,o]of s){let{wrapped:n}=o,a=this[r];n!==!0||this._$AL.has(r)||a===void 0||this.C(r,void 0,o,a)}}let e=!1,t=this._$AL;try{e=this.shouldUpdate(t),e?(this.willUpdate(t),this._$EO?.forEach(s=>s.hostUpdate?.()),this.update(t)):this._$EM()}catch(s){throw e=!1,this._$EM(),s}e&&this._$AE(t)}willUpdate(e){}_$AE(e){this._$EO?.forEach(t=>t.hostUpdated?.()),this.hasUpdated||(this.hasUpdated=!0,this.firstUpdated(e)),this.updated(e)}_$EM(){this._$AL=new Map,this.isUpdatePending=!1}get updateComplete(){return this.getUpdateComplete()}getUpdateComplete(){return this._$ES}shouldUpdate(e){return!0}update(e){this._$Eq&&=this._$Eq.forEach(t=>this._$ET(t,this[t])),this._$EM()}updated(e){}firstUpdated(e){}};T.elementStyles=[],T.shadowRootOptions={mode:"open"},T[G("elementProperties")]=new Map,T[G("finalized")]=new Map,be?.({ReactiveElement:T}),(nt.reactiveElementVersions??=[]).push("2.1.2");var Et=globalThis,zt=i=>i,lt=Et.trustedTypes,Lt=lt?lt.createPolicy("lit-html",{createHTML:i=>i}):void 0,St="$lit$",R=`lit$${Math.random().toFixed(9).slice(2)}$`,kt="?"+R,_e=`<${kt}>`,N=document,Q=()=>N.createComment(""),X=i=>i===null||typeof i!="object"&&typeof i!="function",Tt=Array.isArray,Yt=i=>Tt(i)||typeof i?.[Symbol.iterator]=="function",wt=`[ 	
\f\r]`,J=/<(?:(!--|\/[^a-zA-Z])|(\/?[a-zA-Z][^>\s]*)|(\/?$))/g,Bt=/-->/g,It=/>/g,H=RegExp(`>|${wt}(?:([^\\s"'>=/]+)(${wt}*=${wt}*(?:[^ 	
\f\r"'\`<>=]|("|')|))|$)`,"g"),Wt=/'/g,Ft=/"/g,Gt=/^(?:script|style|textarea|title)$/i,Rt=i=>(e,...t)=>({_$litType$:i,strings:e,values:t}),c=Rt(1),Ct=Rt(2),je=Rt(3),C=Symbol.for("lit-noChange"),h=Symbol.for("lit-nothing"),Kt=new WeakMap,j=N.createTreeWalker(N,129);function Zt(i,e){if(!Tt(i)||!i.hasOwnProperty("raw"))throw Error("invalid template strings array");return Lt!==void 0?Lt.createHTML(e):e}var Jt=(i,e)=>{let t=i.length-1,s=[],r,o=e===2?"<svg>":e===3?"<math>":"",n=J;for(let a=0;a<t;a++){let l=i[a],u,$,d=-1,m=0;for(;m<l.length&&(n.lastIndex=m,$=n.exec(l),$!==null);)m=n.lastIndex,n===J?$[1]==="!--"?n=Bt:$[1]!==void 0?n=It:$[2]!==void 0?(Gt.test($[2])&&(r=RegExp("</"+$[2],"g")),n=H):$[3]!==void 0&&(n=H):n===H?$[0]===">"?(n=r??J,d=-1):$[1]===void 0?d=-2:(d=n.lastIndex-$[2].length,u=$[1],n=$[3]===void 0?H:$[3]==='"'?Ft:Wt):n===Ft||n===Wt?n=H:n===Bt||n===It?n=J:(n=H,r=void 0);let f=n===H&&i[a+1].startsWith("/>")?" ":"";o+=n===J?l+_e:d>=0?(s.push(u),l.slice(0,d)+St+l.slice(d)+R+f):l+R+(d===-2?a:f)}return[Zt(i,o+(i[t]||"<?>")+(e===2?"</svg>":e===3?"</math>":"")),s]},V=class i{constructor({strings:e,_$litType$:t},s){let r;this.parts=[];let o=0,n=0,a=e.length-1,l=this.parts,[u,$]=Jt(e,t);if(this.el=i.createElement(u,s),j.currentNode=this.el.content,t===2||t===3){let d=this.el.content.firstChild;d.replaceWith(...d.childNodes)}for(;(r=j.nextNode())!==null&&l.length<a;){if(r.nodeType===1){if(r.hasAttributes())for(let d of r.getAttributeNames())if(d.endsWith(St)){let m=$[n++],f=r.getAttribute(d).split(R),v=/([.?@])?(.*)/.exec(m);l.push({type:1,index:o,name:v[2],strings:f,ctor:v[1]==="."?ht:v[1]==="?"?dt:v[1]==="@"?pt:q}),r.removeAttribute(d)}else d.startsWith(R)&&(l.push({type:6,index:o}),r.removeAttribute(d));if(Gt.test(r.tagName)){let d=r.textContent.split(R),m=d.length-1;if(m>0){r.textContent=lt?lt.emptyScript:"";for(let f=0;f<m;f++)r.append(d[f],Q()),j.nextNode(),l.push({type:2,index:++o});r.append(d[m],Q())}}}else if(r.nodeType===8)if(r.data===kt)l.push({type:2,index:o});else{let d=-1;for(;(d=r.data.indexOf(R,d+1))!==-1;)l.push({type:7,index:o}),d+=R.length-1}o++}}static createElement(e,t){let s=N.createElement("template");return s.innerHTML=e,s}};function U(i,e,t=i,s){if(e===C)return e;let r=s!==void 0?t._$Co?.[s]:t._$Cl,o=X(e)?void 0:e._$litDirective$;return r?.constructor!==o&&(r?._$AO?.(!1),o===void 0?r=void 0:(r=new o(i),r._$AT(i,t,s)),s!==void 0?(t._$Co??=[])[s]=r:t._$Cl=r),r!==void 0&&(e=U(i,r._$AS(i,e.values),r,s)),e}var ct=class{constructor(e,t){this._$AV=[],this._$AN=void 0,this._$AD=e,this._$AM=t}get parentNode(){return this._$AM.parentNode}get _$AU(){return this._$AM._$AU}u(e){let{el:{content:t},parts:s}=this._$AD,r=(e?.creationScope??N).importNode(t,!0);j.currentNode=r;let o=j.nextNode(),n=0,a=0,l=s[0];for(;l!==void 0;){if(n===l.index){let u;l.type===2?u=new L(o,o.nextSibling,this,e):l.type===1?u=new l.ctor(o,l.name,l.strings,this,e):l.type===6&&(u=new ut(o,this,e)),this._$AV.push(u),l=s[++a]}n!==l?.index&&(o=j.nextNode(),n++)}return j.currentNode=N,r}p(e){let t=0;for(let s of this._$AV)s!==void 0&&(s.strings!==void 0?(s._$AI(e,s,t),t+=s.strings.length-2):s._$AI(e[t])),t++}},L=class i{get _$AU(){return this._$AM?._$AU??this._$Cv}constructor(e,t,s,r){this.type=2,this._$AH=h,this._$AN=void 0,this._$AA=e,this._$AB=t,this._$AM=s,this.options=r,this._$Cv=r?.isConnected??!0}get parentNode(){let e=this._$AA.parentNode,t=this._$AM;return t!==void 0&&e?.nodeType===11&&(e=t.parentNode),e}get startNode(){return this._$AA}get endNode(){return this._$AB}_$AI(e,t=this){e=U(this,e,t),X(e)?e===h||e==null||e===""?(this._$AH!==h&&this._$AR(),this._$AH=h):e!==this._$AH&&e!==C&&this._(e):e._$litType$!==void 0?this.$(e):e.nodeType!==void 0?this.T(e):Yt(e)?this.k(e):this._(e)}O(e){return this._$AA.parentNode.insertBefore(e,this._$AB)}T(e){this._$AH!==e&&(this._$AR(),this._$AH=this.O(e))}_(e){this._$AH!==h&&X(this._$AH)?this._$AA.nextSibling.data=e:this.T(N.createTextNode(e)),this._$AH=e}$(e){let{values:t,_$litType$:s}=e,r=typeof s=="number"?this._$AC(e):(s.el===void 0&&(s.el=V.createElement(Zt(s.h,s.h[0]),this.options)),s);if(this._$AH?._$AD===r)this._$AH.p(t);else{let o=new ct(r,this),n=o.u(this.options);o.p(t),this.T(n),this._$AH=o}}_$AC(e){let t=Kt.get(e.strings);return t===void 0&&Kt.set(e.strings,t=new V(e)),t}k(e){Tt(this._$AH)||(this._$AH=[],this._$AR());let t=this._$AH,s,r=0;for(let o of e)r===t.length?t.push(s=new i(this.O(Q()),this.O(Q()),this,this.options)):s=t[r],s._$AI(o),r++;r<t.length&&(this._$AR(s&&s._$AB.nextSibling,r),t.length=r)}_$AR(e=this._$AA.nextSibling,t){for(this._$AP?.(!1,!0,t);e!==this._$AB;){let s=zt(e).nextSibling;zt(e).remove(),e=s}}setConnected(e){this._$AM===void 0&&(this._$Cv=e,this._$AP?.(e))}},q=class{get tagName(){return this.element.tagName}get _$AU(){return this._$AM._$AU}constructor(e,t,s,r,o){this.type=1,this._$AH=h,this._$AN=void 0,this.element=e,this.name=t,this._$AM=r,this.options=o,s.length>2||s[0]!==""||s[1]!==""?(this._$AH=Array(s.length-1).fill(new String),this.strings=s):this._$AH=h}_$AI(e,t=this,s,r){let o=this.strings,n=!1;if(o===void 0)e=U(this,e,t,0),n=!X(e)||e!==this._$AH&&e!==C,n&&(this._$AH=e);else{let a=e,l,u;for(e=o[0],l=0;l<o.length-1;l++)u=U(this,a[s+l],t,l),u===C&&(u=this._$AH[l]),n||=!X(u)||u!==this._$AH[l],u===h?e=h:e!==h&&(e+=(u??"")+o[l+1]),this._$AH[l]=u}n&&!r&&this.j(e)}j(e){e===h?this.element.removeAttribute(this.name):this.element.setAttribute(this.name,e??"")}},ht=class extends q{constructor(){super(...arguments),this.type=3}j(e){this.element[this.name]=e===h?void 0:e}},dt=class extends q{constructor(){super(...arguments),this.type=4}j(e){this.element.toggleAttribute(this.name,!!e&&e!==h)}},pt=class extends q{constructor(e,t,s,r,o){super(e,t,s,r,o),this.type=5}_$AI(e,t=this){if((e=U(this,e,t,0)??h)===C)return;let s=this._$AH,r=e===h&&s!==h||e.capture!==s.capture||e.once!==s.once||e.passive!==s.passive,o=e!==h&&(s===h||r);r&&this.element.removeEventListener(this.name,this,s),o&&this.element.addEventListener(this.name,this,e),this._$AH=e}handleEvent(e){typeof this._$AH=="function"?this._$AH.call(this.options?.host??this.element,e):this._$AH.handleEvent(e)}},ut=class{constructor(e,t,s){this.element=e,this.type=6,this._$AN=void 0,this._$AM=t,this.options=s}get _$AU(){return this._$AM._$AU}_$AI(e){U(this,e)}},Qt={M:St,P:R,A:kt,C:1,L:Jt,R:ct,D:Yt,V:U,I:L,H:q,N:dt,U:pt,B:ht,F:ut},xe=Et.litHtmlPolyfillSupport;xe?.(V,L),(Et.litHtmlVersions??=[]).push("3.3.3");var Xt=(i,e,t)=>{let s=t?.renderBefore??e,r=s._$litPart$;if(r===void 0){let o=t?.renderBefore??null;s._$litPart$=r=new L(e.insertBefore(Q(),o),o,void 0,t??{})}return r._$AI(i),r};var Pt=globalThis,A=class extends T{constructor(){super(...arguments),this.renderOptions={host:this},this._$Do=void 0}createRenderRoot(){let e=super.createRenderRoot();return this.renderOptions.renderBefore??=e.firstChild,e}update(e){let t=this.render();this.hasUpdated||(this.renderOptions.isConnected=this.isConnected),super.update(e),this._$Do=Xt(t,this.renderRoot,this.renderOptions)}connectedCallback(){super.connectedCallback(),this._$Do?.setConnected(!0)}disconnectedCallback(){super.disconnectedCallback(),this._$Do?.setConnected(!1)}render(){return C}};A._$litElement$=!0,A.finalized=!0,Pt.litElementHydrateSupport?.({LitElement:A});var Ae=Pt.litElementPolyfillSupport;Ae?.({LitElement:A});(Pt.litElementVersions??=[]).push("4.2.2");var b=i=>(e,t)=>{t!==void 0?t.addInitializer(()=>{customElements.define(i,e)}):customElements.define(i,e)};var we={attribute:!0,type:String,converter:Z,reflect:!1,hasChanged:at},Ee=(i=we,e,t)=>{let{kind:s,metadata:r}=t,o=globalThis.litPropertyMetadata.get(r);if(o===void 0&&globalThis.litPropertyMetadata.set(r,o=new Map),s==="setter"&&((i=Object.create(i)).wrapped=!0),o.set(t.name,i),s==="accessor"){let{name:n}=t;return{set(a){let l=e.get.call(this);e.set.call(this,a),this.requestUpdate(n,l,i,!0,a)},init(a){return a!==void 0&&this.C(n,void 0,i,a),a}}}if(s==="setter"){let{name:n}=t;return function(a){let l=this[n];e.call(this,a),this.requestUpdate(n,l,i,!0,a)}}throw Error("Unsupported decorator location: "+s)};function _(i){return(e,t)=>typeof t=="object"?Ee(i,e,t):((s,r,o)=>{let n=r.hasOwnProperty(o);return r.constructor.createProperty(o,s),n?Object.getOwnPropertyDescriptor(r,o):void 0})(i,e,t)}function g(i){return _({...i,state:!0,attribute:!1})}var ft="extended_assist",Vt=i=>Promise.all(["config_panel","exceptions","selector"].map(e=>i.loadBackendTranslation(e,ft))),w=(i,e,t)=>i.localize(`component.${ft}.config_panel.${e}`,t),x=(i,e,t={})=>i.callWS({type:`${ft}/${e}`,language:i.language,...t}),gt=(i,e)=>{let{code:t,message:s,translation_key:r}=e;return r&&i.localize(`component.${ft}.exceptions.${r}.message`)||s||t||String(e)},D=(i,e,t={})=>{let{language:s,time_format:r,time_zone:o}=i.locale;return new Intl.DateTimeFormat(s,{...Object.keys(t).length?t:{dateStyle:"medium",timeStyle:"short"},timeZone:o==="server"?i.config.time_zone:void 0,hour12:r==="12"?!0:r==="24"?!1:void 0}).format(new Date(e*1e3))},E=(i,e,t={})=>new Intl.NumberFormat(i.locale.language,t).format(e),$t=(i,e)=>{i.dispatchEvent(new CustomEvent("hass-more-info",{detail:{entityId:e},bubbles:!0,composed:!0}))};var B=Y`
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
    padding: 16px;
    margin-bottom: 12px;
    background: var(--ha-card-background, var(--card-background-color));
    border: var(--ha-card-border-width, 1px) solid var(--ha-card-border-color, var(--divider-color));
    border-radius: var(--ha-card-border-radius, 12px);
    overflow-wrap: anywhere;
  }
  h2 {
    margin: 0 0 4px;
    font-size: var(--ha-font-size-l, 16px);
    font-weight: var(--ha-font-weight-medium, 500);
  }
  p {
    margin: 4px 0;
  }
  ul {
    margin: 8px 0;
    padding-inline-start: 20px;
  }
  .faint {
    color: var(--secondary-text-color);
  }
  .row {
    display: flex;
    gap: 12px;
    align-items: flex-start;
    justify-content: space-between;
  }
  .row > :first-child {
    flex: 1;
    min-width: 0;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
    margin: 8px 0;
  }
  .lines {
    white-space: pre-line;
  }
  .chips {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    margin: 6px 0 0;
    padding: 0;
    list-style: none;
  }
  .chips li {
    padding: 1px 8px;
    border: 1px solid var(--divider-color);
    border-radius: 999px;
    font-size: var(--ha-font-size-s, 12px);
  }
  .error {
    border-inline-start: 4px solid var(--error-color);
    padding-inline-start: 12px;
  }
  .asked {
    border-inline-start: 4px solid var(--primary-color);
    padding-inline-start: 12px;
    margin-top: 12px;
  }
  button,
  input,
  select,
  textarea {
    font: inherit;
    color: inherit;
  }
  button {
    min-height: 40px;
    padding: 0 16px;
    border: 1px solid var(--outline-color, var(--divider-color));
    border-radius: 999px;
    background: none;
    cursor: pointer;
    font-weight: var(--ha-font-weight-medium, 500);
  }
  button:hover:not([disabled]) {
    background: var(--secondary-background-color);
  }
  button.main {
    border-color: transparent;
    background: var(--ha-color-fill-primary-loud-resting, var(--primary-color));
    color: var(--ha-color-on-primary-loud, var(--text-primary-color));
  }
  button.main:hover:not([disabled]) {
    filter: brightness(1.1);
  }
  button[disabled] {
    opacity: 0.5;
    cursor: default;
  }
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
  label {
    display: block;
    margin: 8px 0 4px;
  }
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
  textarea {
    min-height: 96px;
    resize: vertical;
  }
  textarea,
  pre {
    font-family: var(--ha-font-family-code, monospace);
    font-size: var(--ha-font-size-s, 12px);
  }
  pre {
    max-height: 480px;
    overflow: auto;
    margin: 8px 0;
    padding: 12px;
    border-radius: 8px;
    background: var(--secondary-background-color);
    white-space: pre-wrap;
  }
  :focus-visible {
    outline: 2px solid var(--primary-color);
    outline-offset: 2px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
  }
  th,
  td {
    padding: 6px 8px;
    border-bottom: 1px solid var(--divider-color);
    text-align: end;
    font-weight: normal;
  }
  th:first-child {
    text-align: start;
  }
`;var S=class extends A{constructor(){super(...arguments);this.raw=!1;this.still=!1;this.busy=!1;this.error=""}updated(t){let s=t.get("outcome"),r=this.outcome?.question?.id;t.has("outcome")&&r&&r!==s?.question?.id&&!this.still&&this.renderRoot.querySelector(".asked")?.focus()}async answer(t){let s=this.outcome?.question;if(s){this.busy=!0,this.error="";try{let r=await x(this.hass,"questions/answer",{question:s.id,agreed:t});this.outcome=r,this.dispatchEvent(new CustomEvent("answered",{detail:r,bubbles:!0,composed:!0}))}catch(r){this.error=gt(this.hass,r),this.outcome=void 0}this.busy=!1}}render(){let{outcome:t,hass:s}=this;return c`
      ${this.error?c`<p class="error" role="alert">${this.error}</p>`:h}
      ${t?.question?c`<div class="asked" role="group" tabindex="-1" aria-label=${w(s,"questions.asked")}>
            <p class="lines">${t.question.text}</p>
            <div class="bar">
              <button class="main" ?disabled=${this.busy} @click=${()=>this.answer(!0)}>
                ${w(s,"questions.yes")}
              </button>
              <button ?disabled=${this.busy} @click=${()=>this.answer(!1)}>${w(s,"questions.no")}</button>
            </div>
          </div>`:t?c`<div role="status">
              <p>${w(s,t.done?"questions.done":"questions.not_done")}</p>
              ${t.speech?c`<p class="lines">${t.speech}</p>`:h}
              ${t.answer?this.told(t.answer):h}
              ${this.raw&&t.characters!==void 0?c`<p class="faint">
                    ${w(s,"tools.size",{characters:E(s,t.characters),seconds:E(s,t.seconds??0,{maximumFractionDigits:3})})}
                  </p>`:h}
            </div>`:h}
    `}told(t){let s=JSON.parse(t);return this.raw?c`<pre tabindex="0">${JSON.stringify(s,null,2)}</pre>`:c`<ul>
      ${Ot(s).map(r=>c`<li>${r}</li>`)}
    </ul>`}};S.styles=[B],p([_({attribute:!1})],S.prototype,"hass",2),p([_({attribute:!1})],S.prototype,"outcome",2),p([_({type:Boolean})],S.prototype,"raw",2),p([_({type:Boolean})],S.prototype,"still",2),p([g()],S.prototype,"busy",2),p([g()],S.prototype,"error",2),S=p([b("extended-assist-outcome")],S);var Ot=(i,e="")=>Array.isArray(i)?i.flatMap(t=>Ot(t,e)):i&&typeof i=="object"?Object.entries(i).filter(([t])=>t!=="words_of_others"&&t!=="made_at").flatMap(([t,s])=>Ot(s,t.replaceAll("_"," "))):[e?`${e}: ${String(i)}`:String(i)];var Se=15e3,y=class extends A{constructor(){super(...arguments);this.error="";this.refresh=Se;this.timer=0;this.look=()=>{document.hidden||this.load()};this.load=async()=>{await this.attempt(async()=>{this.data=await this.fetch()})}}static{this.styles=[B]}connectedCallback(){super.connectedCallback(),document.addEventListener("visibilitychange",this.look),this.timer=window.setInterval(this.look,this.refresh),this.hasUpdated&&this.load()}disconnectedCallback(){super.disconnectedCallback(),document.removeEventListener("visibilitychange",this.look),window.clearInterval(this.timer)}firstUpdated(){this.load()}async attempt(t){try{await t(),this.error=""}catch(s){this.error=gt(this.hass,s)}}say(t,s){return w(this.hass,t,s)}render(){return c`
      ${this.error?c`<ha-card><p class="error" role="alert">${this.error}</p></ha-card>`:h}
      ${this.data===void 0?h:this.show(this.data)}
    `}empty(t){return c`<ha-card><p class="faint">${this.say(t)}</p></ha-card>`}};p([_({attribute:!1})],y.prototype,"hass",2),p([g()],y.prototype,"data",2),p([g()],y.prototype,"error",2);var I=class extends y{constructor(){super(...arguments);this.limit=0;this.outcomes={}}fetch(){return x(this.hass,"journal/list")}async undo(t){await this.attempt(async()=>{let s=await x(this.hass,"journal/undo",{change:t.id});this.outcomes={...this.outcomes,[t.id]:s},s.question||await this.load()})}show(t){let s=this.limit?t.slice(0,this.limit):t;return s.length?c`${s.map(r=>this.row(r))}`:this.empty("journal.empty")}row(t){let s=[t.user??this.say("journal.nobody"),t.device].filter(Boolean).join(" · "),r=this.outcomes[t.id];return c`<ha-card>
      <div class="row">
        <div>
          <h2>${this.headline(t)}</h2>
          <p class="faint">
            ${D(this.hass,t.time)} · ${s}${t.undone?` · ${this.say("journal.undone")}`:h}
          </p>
        </div>
        ${t.can_undo?c`<button
              aria-label=${this.say("journal.undo_this",{what:this.headline(t)})}
              @click=${()=>this.undo(t)}
            >
              ${this.say("journal.undo")}
            </button>`:h}
      </div>
      ${t.entities.length?c`<ul>
            ${t.entities.map(o=>c`<li>
                  <button class="link" @click=${()=>$t(this,o.entity_id)}>${o.name}</button>
                  ${this.values(o)}
                </li>`)}
          </ul>`:h}
      ${t.more?c`<p class="faint">${this.say("journal.more",{count:t.more})}</p>`:h}
      ${r?c`<extended-assist-outcome
            .hass=${this.hass}
            .outcome=${r}
            @answered=${this.load}
          ></extended-assist-outcome>`:h}
    </ha-card>`}headline(t){if(t.kind==="states")return t.action||this.say("journal.kind_states");let s=this.say(`journal.kind_${t.kind}`)||t.action;return t.title?`${s}: ${t.title}`:s}values({entity_id:t,changes:s}){let r=this.hass.states[t],o=(n,a)=>a==null?"–":r?n==="state"?this.hass.formatEntityState(r,String(a)):this.hass.formatEntityAttributeValue(r,n,a):String(a);return s.map(({name:n,before:a,after:l})=>`${n==="state"||!r?"":`${this.hass.formatEntityAttributeName(r,n)} `}${o(n,a)} → ${o(n,l)}`).join(", ")}};p([_({type:Number})],I.prototype,"limit",2),p([g()],I.prototype,"outcomes",2),I=p([b("extended-assist-journal")],I);var tt=class extends y{constructor(){super(...arguments);this.asked=""}async fetch(){return(await this.perform("get_facts",{},!0))?.facts??[]}async perform(t,s,r=!1){let{response:o}=await this.hass.callWS({type:"call_service",domain:"extended_assist",service:t,service_data:s,return_response:r});return o}async forget(t){await this.attempt(async()=>{await this.perform("forget",{ids:[t.id]}),this.asked="",await this.load()})}show(t){return t.length?c`${t.map(s=>c`<ha-card>
          <div class="row">
            <div>
              <h2>${s.words}</h2>
              <p class="faint">
                ${this.say(s.whose==="me"?"memory.own":"memory.household")} · ${s.said}${s.until?` · ${this.say("memory.until",{time:s.until})}`:h}
              </p>
            </div>
            <button
              aria-label=${this.say("memory.forget_this",{what:s.words})}
              @click=${()=>{this.asked=s.id}}
            >
              ${this.say("memory.forget")}
            </button>
          </div>
          ${this.asked===s.id?c`<div class="asked" role="group" aria-label=${this.say("questions.asked")}>
                <p>${this.say("memory.sure")}</p>
                <div class="bar">
                  <button class="main" @click=${()=>this.forget(s)}>${this.say("questions.yes")}</button>
                  <button
                    @click=${()=>{this.asked=""}}
                  >
                    ${this.say("questions.no")}
                  </button>
                </div>
              </div>`:h}
        </ha-card>`)}`:this.empty("memory.empty")}};p([g()],tt.prototype,"asked",2),tt=p([b("extended-assist-memory")],tt);var te={ATTRIBUTE:1,CHILD:2,PROPERTY:3,BOOLEAN_ATTRIBUTE:4,EVENT:5,ELEMENT:6},ee=i=>(...e)=>({_$litDirective$:i,values:e}),yt=class{constructor(e){}get _$AU(){return this._$AM._$AU}_$AT(e,t,s){this._$Ct=e,this._$AM=t,this._$Ci=s}_$AS(e,t){return this.update(e,t)}update(e,t){return this.render(...t)}};var{I:ke}=Qt,se=i=>i;var re=()=>document.createComment(""),W=(i,e,t)=>{let s=i._$AA.parentNode,r=e===void 0?i._$AB:e._$AA;if(t===void 0){let o=s.insertBefore(re(),r),n=s.insertBefore(re(),r);t=new ke(o,n,i,i.options)}else{let o=t._$AB.nextSibling,n=t._$AM,a=n!==i;if(a){let l;t._$AQ?.(i),t._$AM=i,t._$AP!==void 0&&(l=i._$AU)!==n._$AU&&t._$AP(l)}if(o!==r||a){let l=t._$AA;for(;l!==o;){let u=se(l).nextSibling;se(s).insertBefore(l,r),l=u}}}return t},O=(i,e,t=i)=>(i._$AI(e,t),i),Te={},ie=(i,e=Te)=>i._$AH=e,oe=i=>i._$AH,vt=i=>{i._$AR(),i._$AA.remove()};var ne=(i,e,t)=>{let s=new Map;for(let r=e;r<=t;r++)s.set(i[r],r);return s},ae=ee(class extends yt{constructor(i){if(super(i),i.type!==te.CHILD)throw Error("repeat() can only be used in text expressions")}dt(i,e,t){let s;t===void 0?t=e:e!==void 0&&(s=e);let r=[],o=[],n=0;for(let a of i)r[n]=s?s(a,n):n,o[n]=t(a,n),n++;return{values:o,keys:r}}render(i,e,t){return this.dt(i,e,t).values}update(i,[e,t,s]){let r=oe(i),{values:o,keys:n}=this.dt(e,t,s);if(!Array.isArray(r))return this.ut=n,o;let a=this.ut??=[],l=[],u,$,d=0,m=r.length-1,f=0,v=o.length-1;for(;d<=m&&f<=v;)if(r[d]===null)d++;else if(r[m]===null)m--;else if(a[d]===n[f])l[f]=O(r[d],o[f]),d++,f++;else if(a[m]===n[v])l[v]=O(r[m],o[v]),m--,v--;else if(a[d]===n[v])l[v]=O(r[d],o[v]),W(i,l[v+1],r[d]),d++,v--;else if(a[m]===n[f])l[f]=O(r[m],o[f]),W(i,r[d],r[m]),m--,f++;else if(u===void 0&&(u=ne(n,f,v),$=ne(a,d,m)),u.has(a[d]))if(u.has(a[m])){let k=$.get(n[f]),_t=k!==void 0?r[k]:null;if(_t===null){let Ht=W(i,r[d]);O(Ht,o[f]),l[f]=Ht}else l[f]=O(_t,o[f]),W(i,r[d],_t),r[k]=null;f++}else vt(r[m]),m--;else vt(r[d]),d++;for(;f<=v;){let k=W(i,l[v+1]);O(k,o[f]),l[f++]=k}for(;d<=m;){let k=r[d++];k!==null&&vt(k)}return this.ut=n,ie(i,l),C}});var et=class extends y{constructor(){super(...arguments);this.refresh=5e3;this.answered=[]}fetch(){return x(this.hass,"questions/list")}show(t){return!t.length&&!this.answered.length?this.empty("questions.empty"):c`
      ${ae(t,s=>s.id,s=>c`<ha-card>
            <p class="faint">
              ${this.say(`questions.kind_${s.kind}`)} ·
              ${this.say("questions.minutes",{minutes:Math.max(1,Math.round(s.seconds/60))})}
            </p>
            <extended-assist-outcome
              still
              .hass=${this.hass}
              .outcome=${{done:!1,question:s}}
              @answered=${r=>{r.detail.question||(this.answered=[r.detail,...this.answered]),this.load()}}
            ></extended-assist-outcome>
          </ha-card>`)}
      ${this.answered.map(s=>c`<ha-card>
            <extended-assist-outcome .hass=${this.hass} .outcome=${s}></extended-assist-outcome>
          </ha-card>`)}
    `}};p([g()],et.prototype,"answered",2),et=p([b("extended-assist-questions")],et);var F=class extends y{constructor(){super(...arguments);this.limit=0;this.outcomes={}}fetch(){return x(this.hass,"wishes/list")}async cancel(t){await this.attempt(async()=>{let s=await x(this.hass,"wishes/cancel",{wish:t.id});this.outcomes={...this.outcomes,[t.id]:s},s.done&&await this.load()})}show(t){let s=this.limit?t.slice(0,this.limit):t;return s.length?c`${s.map(r=>this.row(r))}`:this.empty("standing.empty")}row(t){let s=t.next?D(this.hass,t.next):this.say("standing.waits"),r=t.is_own?this.say("standing.own"):t.user??this.say("standing.household");return c`<ha-card>
      <div class="row">
        <div>
          <h2>${t.name}</h2>
          <p class="faint">${s} · ${r}</p>
        </div>
        <button aria-label=${this.say("standing.cancel_this",{what:t.name})} @click=${()=>this.cancel(t)}>
          ${this.say("standing.cancel")}
        </button>
      </div>
      ${t.lines.map(o=>o===t.name?h:c`<p class="lines">${o}</p>`)}
      ${t.in_vain?c`<p class="error">${this.say("standing.in_vain")}</p>`:h}
      ${t.result?c`<p class="faint">${this.say("standing.last",{result:t.result})}</p>`:h}
      ${this.outcomes[t.id]?c`<extended-assist-outcome
            .hass=${this.hass}
            .outcome=${this.outcomes[t.id]}
            @answered=${this.load}
          ></extended-assist-outcome>`:h}
    </ha-card>`}};p([_({type:Number})],F.prototype,"limit",2),p([g()],F.prototype,"outcomes",2),F=p([b("extended-assist-standing")],F);var M=class extends y{constructor(){super(...arguments);this.refresh=2**30;this.chosen=0;this.written="{}";this.busy=!1}fetch(){return x(this.hass,"tools/list")}choose(t){this.chosen=t,this.outcome=void 0;let{required:s=[],properties:r={}}=this.data?.[t]?.parameters??{},o={object:{},array:[],integer:0,number:0,boolean:!1},n=s.map(a=>[a,o[r[a]?.type??""]??""]);this.written=JSON.stringify(Object.fromEntries(n),null,2)}async call(t){let s;try{s=JSON.parse(this.written||"{}")}catch{s=null}if(!s||typeof s!="object"||Array.isArray(s)){this.error=this.say("tools.no_object");return}this.busy=!0,this.outcome=void 0,await this.attempt(async()=>{let{entry:r,name:o}=t;this.outcome=await x(this.hass,"tools/call",{entry:r,tool:o,arguments:s})}),this.busy=!1}show(t){let s=t[this.chosen];if(!s)return this.empty("tools.empty");let r=[...new Set(t.map(o=>o.entry))];return c`<ha-card>
      <label for="tool">${this.say("tools.tool")}</label>
      <select id="tool" @change=${o=>this.choose(Number(o.target.value))}>
        ${r.map(o=>c`<optgroup label=${t.find(n=>n.entry===o)?.entry_title??o}>
              ${t.map((n,a)=>n.entry===o?c`<option value=${a} ?selected=${a===this.chosen}>${n.title} (${n.name})</option>`:h)}
            </optgroup>`)}
      </select>
      <p>${s.description}</p>
      ${Object.keys(s.parameters.properties??{}).length?c`<ul>
            ${Object.entries(s.parameters.properties??{}).map(([o,n])=>c`<li>
                  <code>${o}</code>${s.parameters.required?.includes(o)?` (${this.say("tools.required")})`:h}
                  ${n.description??""}
                </li>`)}
          </ul>`:h}
      <label for="arguments">${this.say("tools.arguments")}</label>
      <textarea
        id="arguments"
        spellcheck="false"
        .value=${this.written}
        @input=${o=>{this.written=o.target.value}}
      ></textarea>
      <div class="bar">
        <button class="main" ?disabled=${this.busy} @click=${()=>this.call(s)}>${this.say("tools.call")}</button>
        ${s.read_only?h:c`<span class="faint">${this.say("tools.acts")}</span>`}
      </div>
      ${this.outcome?c`<extended-assist-outcome raw .hass=${this.hass} .outcome=${this.outcome}></extended-assist-outcome>`:h}
    </ha-card>`}};p([g()],M.prototype,"chosen",2),p([g()],M.prototype,"written",2),p([g()],M.prototype,"outcome",2),p([g()],M.prototype,"busy",2),M=p([b("extended-assist-tools")],M);var Mt=14,z=["input_tokens","cached_tokens","cache_written_tokens","output_tokens"],le=["--color-1, #4269d0","--color-2, #f4bd4a","--color-3, #ff725c","--color-4, #6cc5b0"],ce="extended_assist_prices",st=class extends y{constructor(){super(...arguments);this.refresh=6e4;this.saved=!1}async fetch(){let t=await x(this.hass,"usage"),{value:s}=await this.hass.callWS({type:"frontend/get_user_data",key:ce}),r=t.flatMap(l=>Object.values(l.sensors)),o=new Date;o.setDate(o.getDate()-Mt+1),o.setHours(0,0,0,0);let n=r.length?await this.hass.callWS({type:"recorder/statistics_during_period",start_time:o.toISOString(),statistic_ids:r,period:"day",types:["change"]}):{},a=Object.fromEntries(t.map(l=>[l.id,this.days(l,n)]));return{agents:t,days:a,prices:s??{}}}days(t,s){let r=new Map;for(let[o,n]of Object.entries(t.sensors))for(let{start:a,change:l}of s[n]??[]){let u=r.get(a)??{start:a,counts:{}};u.counts[o]=l??0,r.set(a,u)}return[...r.values()].sort((o,n)=>o.start-n.start)}show({agents:t,days:s,prices:r}){return t.length?c`${t.map(o=>this.agent(o,s[o.id]??[],r[o.id]??{}))}`:this.empty("usage.no_agent")}agent(t,s,r){let o=E(this.hass,t.month_tokens),n=t.monthly_limit?E(this.hass,t.monthly_limit):"";return c`<ha-card>
      <h2>${t.name}</h2>
      <p class="faint">
        ${t.model} · ${n?this.say("usage.month_of",{month:o,limit:n}):this.say("usage.month",{month:o})}
      </p>
      ${s.length?c`${this.chart(s)}${this.table(s,r)}`:c`<p>${this.say("usage.no_days")}</p>`}
      <details>
        <summary>${this.say("usage.prices",{currency:this.hass.config.currency})}</summary>
        <form @submit=${a=>this.save(a,t)}>
          ${z.map(a=>c`<label
                >${this.say(`usage.${a}`)}
                <input name=${a} type="number" min="0" step="any" .value=${String(r[a]??"")}
              /></label>`)}
          <div class="bar">
            <button class="main">${this.say("usage.save")}</button>
            ${this.saved?c`<span role="status">${this.say("usage.saved")}</span>`:h}
          </div>
        </form>
      </details>
    </ha-card>`}async save(t,s){t.preventDefault();let r=new FormData(t.target),o=z.flatMap(n=>r.get(n)?[[n,Number(r.get(n))]]:[]);await this.attempt(async()=>{let n={...this.data?.prices,[s.id]:Object.fromEntries(o)};await this.hass.callWS({type:"frontend/set_user_data",key:ce,value:n}),this.saved=!0,await this.load()})}chart(t){let[s,r,o]=[Mt*40,140,8],n=Math.max(1,...t.map(a=>z.reduce((l,u)=>l+(a.counts[u]??0),0)));return c`
      <svg viewBox="0 0 ${s} ${r+20}" width="100%" role="img" aria-label=${this.say("usage.chart")}>
        ${t.slice(-Mt).map((a,l)=>{let u=r;return Ct`
            ${z.map(($,d)=>{let m=(a.counts[$]??0)/n*r;return u-=m,Ct`<rect x=${l*40+o/2} y=${u} width=${40-o} height=${m}
                style="fill: var(${le[d]})"></rect>`})}
            <text x=${l*40+20} y=${r+15} text-anchor="middle" font-size="11"
              style="fill: var(--secondary-text-color)">${D(this.hass,a.start/1e3,{day:"numeric"})}</text>`})}
      </svg>
      <ul class="chips">
        ${z.map((a,l)=>c`<li style="border-color: var(${le[l]})">${this.say(`usage.${a}`)}</li>`)}
      </ul>
    `}table(t,s){let r=Object.keys(s).length>0,o=a=>z.reduce((l,u)=>l+(a.counts[u]??0)*(s[u]??0)/1e6,0),n={style:"currency",currency:this.hass.config.currency};return c`<table>
      <tr>
        <th scope="col">${this.say("usage.day")}</th>
        <th scope="col">${this.say("usage.requests")}</th>
        <th scope="col">${this.say("usage.tokens")}</th>
        ${r?c`<th scope="col">${this.say("usage.cost")}</th>`:h}
      </tr>
      ${[...t].reverse().map(a=>c`<tr>
            <th scope="row">${D(this.hass,a.start/1e3,{dateStyle:"medium"})}</th>
            <td>${E(this.hass,a.counts.requests??0)}</td>
            <td>
              ${E(this.hass,z.reduce((l,u)=>l+(a.counts[u]??0),0))}
            </td>
            ${r?c`<td>${E(this.hass,o(a),n)}</td>`:h}
          </tr>`)}
    </table>`}};p([g()],st.prototype,"saved",2),st=p([b("extended-assist-usage")],st);var bt=100,rt=class extends y{constructor(){super(...arguments);this.refresh=6e4;this.search="";this.offset=0}fetch(){return x(this.hass,"visible",{search:this.search,offset:this.offset})}find(t){this.search=t,this.offset=0,this.load()}turn(t){this.offset=t,this.load()}show({rows:t,found:s,exposed:r}){return c`
      <ha-card>
        <label for="search">${this.say("visible.search")}</label>
        <input
          id="search"
          type="search"
          maxlength="100"
          .value=${this.search}
          @change=${o=>this.find(o.target.value)}
        />
        <p class="faint" role="status">
          ${this.say("visible.found",{found:E(this.hass,s),exposed:E(this.hass,r)})}
        </p>
        <p><a href="/config/voice-assistants/expose">${this.say("visible.expose")}</a></p>
      </ha-card>
      ${t.map(o=>this.row(o))}
      ${s>bt?c`<div class="bar">
            <button ?disabled=${!this.offset} @click=${()=>this.turn(Math.max(0,this.offset-bt))}>
              ${this.say("visible.before")}
            </button>
            <button ?disabled=${this.offset+bt>=s} @click=${()=>this.turn(this.offset+bt)}>
              ${this.say("visible.after")}
            </button>
          </div>`:h}
    `}row(t){let s=t.aliases.length?` · ${t.aliases.join(", ")}`:"";return c`<ha-card>
      <h2><button class="link" @click=${()=>$t(this,t.entity_id)}>${t.name}</button></h2>
      <p class="faint">${t.entity_id}${t.area?` · ${t.area}`:h}${s}</p>
      ${t.families.length?c`<ul class="chips" aria-label=${this.say("visible.read_by")}>
            ${t.families.map(r=>c`<li>
                  ${this.hass.localize(`component.extended_assist.selector.families.options.${r}`)||r}
                </li>`)}
          </ul>`:h}
      ${t.reasons.map(r=>c`<p class="error">${this.say(`visible.why_${r}`)}</p>`)}
    </ha-card>`}};p([g()],rt.prototype,"search",2),rt=p([b("extended-assist-visible")],rt);var he=["journal","standing","memory","questions"],Re=["usage","visible","tools"],P=class extends A{constructor(){super(...arguments);this.narrow=!1;this.language=""}willUpdate(t){let{language:s}=this.hass;t.has("hass")&&s!==this.language&&Vt(this.hass).then(()=>{this.language=s})}go(t,s){t.ctrlKey||t.metaKey||t.shiftKey||(t.preventDefault(),history.pushState(null,"",s),window.dispatchEvent(new CustomEvent("location-changed",{detail:{replace:!1}})))}render(){if(!this.language)return h;let{hass:t}=this,s=t.user?.is_admin?[...he,...Re]:he,r=this.route?.path.split("/")[1]??"",o=s.includes(r)?r:"journal";return c`
      <header>
        <div class="title">
          <ha-menu-button .hass=${t} .narrow=${this.narrow}></ha-menu-button>
          <h1>${w(t,"panel.title")}</h1>
        </div>
        <nav aria-label=${w(t,"panel.title")}>
          ${s.map(n=>{let a=`${this.route?.prefix??"/extended-assist"}/${n}`;return c`<a
              href=${a}
              aria-current=${n===o?"page":h}
              @click=${l=>this.go(l,a)}
              >${w(t,`panel.${n}`)}</a
            >`})}
        </nav>
      </header>
      <main>${this.view(o)}</main>
    `}view(t){let{hass:s}=this;switch(t){case"standing":return c`<extended-assist-standing .hass=${s}></extended-assist-standing>`;case"memory":return c`<extended-assist-memory .hass=${s}></extended-assist-memory>`;case"questions":return c`<extended-assist-questions .hass=${s}></extended-assist-questions>`;case"usage":return c`<extended-assist-usage .hass=${s}></extended-assist-usage>`;case"visible":return c`<extended-assist-visible .hass=${s}></extended-assist-visible>`;case"tools":return c`<extended-assist-tools .hass=${s}></extended-assist-tools>`;default:return c`<extended-assist-journal .hass=${s}></extended-assist-journal>`}}};P.styles=[B,Y`
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
      nav a {
        flex: none;
        padding: 12px 16px;
        color: inherit;
        text-decoration: none;
        border-bottom: 2px solid transparent;
      }
      nav a[aria-current] {
        border-bottom-color: currentcolor;
        font-weight: var(--ha-font-weight-medium, 500);
      }
      nav a:focus-visible {
        outline-color: currentcolor;
        outline-offset: -4px;
      }
      main {
        box-sizing: border-box;
        max-width: 840px;
        margin: 0 auto;
        padding: 16px 16px 48px;
      }
    `],p([_({attribute:!1})],P.prototype,"hass",2),p([_({type:Boolean,reflect:!0})],P.prototype,"narrow",2),p([_({attribute:!1})],P.prototype,"route",2),p([g()],P.prototype,"language",2),P=p([b("extended-assist-panel")],P);export{P as AssistantPanel};
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
lit-html/directive.js:
lit-html/directives/repeat.js:
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

lit-html/directive-helpers.js:
  (**
   * @license
   * Copyright 2020 Google LLC
   * SPDX-License-Identifier: BSD-3-Clause
   *)
*/
