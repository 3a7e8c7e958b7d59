/**
 * Panels change in place. A panel describes what it shows as new elements; `patch` puts their attributes, texts and
 * listeners into the elements that are there already, found by key. What is under the pointer stays the same element.
 */

export type Child = Node | string | null | undefined | false;
type Table = Map<string, EventListener>;

/** What an element does on events; exchanged when it is described anew. */
const listeners = new WeakMap<Element, Table>();

/** Stand-ins of elements that keep a life of their own. */
const stands = new WeakMap<Element, HTMLElement>();

/** Text fields with words that were not taken yet. */
const edited = new WeakSet<EventTarget>();
let pressed: EventTarget | null = null;

addEventListener("pointerdown", ({ target }) => { pressed = target; }, true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { pressed = null; }, true);
addEventListener("input", ({ target }) => { if (target !== null) edited.add(target); }, true);
for (const end of ["change", "focusout"]) addEventListener(end, ({ target }) => { if (target !== null) edited.delete(target); }, true);

function dispatch(this: Element, event: Event): void {
  listeners.get(this)?.get(event.type)?.call(this, event);
}

/** Calls `listener` on an event, until the element is described with another. */
export function listen(element: Element, name: string, listener: EventListener): void {
  const table = listeners.get(element) ?? new Map<string, EventListener>();
  if (!table.has(name)) element.addEventListener(name, dispatch);
  listeners.set(element, table.set(name, listener));
}

/** Stands for an element that is never described anew, such as a curve: it stays where it is in the page. */
export function stay(element: HTMLElement, key: string): HTMLElement {
  element.dataset.key = key;
  const stand = document.createElement("div");
  stand.dataset.key = key;
  stand.dataset.stand = "";
  stands.set(stand, element);
  return stand;
}

/** Whether the user holds it or types into it: its value is theirs until they let go. */
function inHand(element: Element): boolean {
  return element === pressed || (element === document.activeElement && edited.has(element));
}

/** Shows `children` in `parent`, in the elements that show the same things now. */
export function patch(parent: Element, ...children: Child[]): void {
  const fresh = children.filter((child) => child !== null && child !== undefined && child !== false);
  const wanted = keyed(fresh.map((child) => (typeof child === "string" ? new Text(child) : child)));
  const known = keyed([...parent.childNodes]);
  const shown = [...wanted].map(([key, node]) => {
    const real = node instanceof Element ? (stands.get(node) ?? node) : node;
    const old = known.get(key);
    if (old === undefined || (old !== real && !adopt(old, real))) return settle(real);
    known.delete(key);
    return old;
  });
  for (const gone of known.values()) gone.parentNode?.removeChild(gone);
  let place = parent.firstChild;
  for (const node of shown) {
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
}

/** Nodes by what they show; those that show the same are numbered. */
function keyed(nodes: readonly Node[]): Map<string, Node> {
  const known = new Map<string, Node>();
  for (const node of nodes) {
    const name = node instanceof HTMLElement ? (node.dataset.key ?? `${node.id}.${node.className.split(" ")[0] ?? ""}`) : "";
    let key = `${node.nodeName} ${name}`;
    for (let k = 2; known.has(key); k++) key = `${node.nodeName} ${name} ${k}`;
    known.set(key, node);
  }
  return known;
}

/** Puts real elements in the places of their stand-ins. */
function settle(node: Node): Node {
  if (!(node instanceof Element)) return node;
  for (const stand of node.querySelectorAll("[data-stand]")) {
    const real = stands.get(stand);
    if (real) stand.replaceWith(real);
  }
  return node;
}

/** Makes `old` say what `fresh` says; false if it cannot. */
function adopt(old: Node, fresh: Node): boolean {
  if (old instanceof Text && fresh instanceof Text) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return true;
  }
  if (!(old instanceof HTMLElement && fresh instanceof HTMLElement)) return false;
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) === value) continue;
    // The page's policy forbids styles in attributes, which a style that is set this way is not.
    if (name === "style") old.style.cssText = fresh.style.cssText;
    else old.setAttribute(name, value);
  }
  const table = listeners.get(fresh) ?? new Map<string, EventListener>();
  for (const name of table.keys()) if (listeners.get(old)?.has(name) !== true) old.addEventListener(name, dispatch);
  listeners.set(old, table);
  patch(old, ...fresh.childNodes);
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) {
    if (old.checked !== fresh.checked) old.checked = fresh.checked;
    if (!inHand(old) && old.value !== fresh.value) old.value = fresh.value;
  }
  if (old instanceof HTMLCanvasElement && fresh instanceof HTMLCanvasElement) {
    const context = old.getContext("2d");
    context?.clearRect(0, 0, old.width, old.height);
    context?.drawImage(fresh, 0, 0);
  }
  if (old instanceof HTMLSelectElement && fresh instanceof HTMLSelectElement && old.value !== fresh.value) old.value = fresh.value;
  return true;
}
