import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import type { JsonObject } from '../base/json.ts';
import type { TrafficBudget } from './traffic-budget.ts';

/** A server that this process reaches without HTTP, because it holds the pipes to it. */
export interface ServerChannel {
  /** Begins the conversation of one client. `receive` gets the messages that belong to no request. */
  open(receive: (message: ReceivedMessage) => void): Conversation;
}

/** A message of the server: its JSON, and what that says. */
export interface ReceivedMessage {
  value: JsonObject;
  text: string;
}

/** How the client takes part in its request until the request ends. */
export interface RequestHandling {
  /** Gets the messages that belong to the request, its answer included. */
  receive: (message: ReceivedMessage) => void;
  /** Called once nothing more will come. */
  onEnd: () => void;
  /** Aborts if the client gives the request up, in eras without a message for it. */
  signal: AbortSignal | undefined;
}

/** The conversation of one client. */
export interface Conversation {
  /** The id by which the witness of the server's processes knows it; undefined if the server has no sessions. */
  readonly id: string | undefined;
  /** Sends a message, and resolves once the server accepts more. Rejects if no process can be started for it. */
  send(message: JSONRPCMessage, handling: RequestHandling): Promise<void>;
  /** Ends the conversation, without waiting for the server. */
  close(): void;
}

/** Makes the SDK's transport of a conversation. Its traffic counts towards the budget. */
export function createChannelTransport(
  channel: ServerChannel,
  budget: TrafficBudget,
): Transport & { readonly sessionId?: string | undefined } {
  const inTurn = takeTurns();
  const deliver = (value: JsonObject) => {
    try {
      transport.onmessage?.(parseJSONRPCMessage(value));
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const receive = ({ value, text }: ReceivedMessage) => {
    // The session ends with the budget.
    if (budget.addMessage(text)) inTurn(() => deliver(value));
  };
  const conversation = channel.open(receive);
  const transport: Transport & { readonly sessionId?: string | undefined } = {
    hasPerRequestStream: true,
    get sessionId() {
      return conversation.id;
    },
    start: async () => {},
    send: async (message, { requestSignal: signal, onRequestStreamEnd } = {}) => {
      budget.addRequest();
      await conversation.send(message, { receive, onEnd: () => inTurn(() => onRequestStreamEnd?.()), signal });
    },
    close: async () => {
      conversation.close();
      transport.onclose?.();
    },
  };
  return transport;
}

/**
 * Makes a function that runs each step once everything that the step before it has started is over. The SDK handles a notification later
 * than an answer, so that a report of progress would be lost if the answer came with it in one chunk.
 */
function takeTurns(): (step: () => void) => void {
  const steps: Array<() => void> = [];
  const next = () => {
    steps[0]?.();
    setImmediate(() => {
      steps.shift();
      if (steps.length > 0) next();
    });
  };
  return (step) => {
    steps.push(step);
    if (steps.length === 1) next();
  };
}
