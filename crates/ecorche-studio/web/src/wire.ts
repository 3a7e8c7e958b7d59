/** The connection to the engine: opens it, opens it again when it breaks, reads what comes. */

import { decode, VERSION, type Message, type Request } from "./messages.ts";

const FIRST_WAIT = 250;
const LONGEST_WAIT = 3000;

export interface Listener {
  /** The engine is there; whatever it was told before must be told again. */
  opened(): void;
  closed(): void;
  received(message: Message, decoding: number): void;
  failed(reason: string): void;
}

export class Wire {
  /** Messages received and their bytes, since the page was opened. */
  readonly count = { messages: 0, bytes: 0 };
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;

  constructor(private readonly listener: Listener) {
    this.connect();
  }

  /** Sends a request; false if the engine is away. */
  send(request: Request): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(request));
    return true;
  }

  /** Sends anything at all; tests play the stranger with it. */
  sendRaw(data: string | ArrayBuffer): void {
    this.socket?.send(data);
  }

  private connect(): void {
    const folder = location.pathname.replace(/[^/]*$/, "");
    const socket = new WebSocket(`ws://${location.host}${folder}engine/v${VERSION}`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.listener.opened();
    };
    socket.onclose = () => {
      this.listener.closed();
      setTimeout(() => {
        this.connect();
      }, this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer>) => {
      const started = performance.now();
      this.count.messages++;
      this.count.bytes += event.data.byteLength;
      try {
        const message = decode(event.data);
        this.listener.received(message, performance.now() - started);
      } catch (error) {
        this.listener.failed(error instanceof Error ? error.message : String(error));
      }
    };
  }
}
