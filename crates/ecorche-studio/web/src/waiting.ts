/** Orders given while the engine is away, until it is back. */

import type { Request } from "./messages.ts";

export class Waiting {
  private orders: Request[] = [];

  get count(): number {
    return this.orders.length;
  }

  /** Keeps one. Of a drag only the newest place counts. */
  add(order: Request): void {
    const drag = dragOf(order);
    if (drag !== null && dragOf(this.orders.at(-1)) === drag) this.orders.pop();
    this.orders.push(order);
  }

  /** All of them, in turn; none is left. */
  take(): Request[] {
    return this.orders.splice(0);
  }
}

function dragOf(order: Request | undefined): number | null {
  return typeof order === "object" && "edit" in order ? (order.edit.drag ?? null) : null;
}
