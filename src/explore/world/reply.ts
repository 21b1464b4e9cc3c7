import type { JsonObject } from '../../base/json.ts';
import type { ResponseMessage } from '../../server/bridge/bridge-messages.ts';
import type { ProcessExit } from '../../server/process.ts';

/** The answer to a request, or the event that came instead. */
export type Reply =
  | { kind: 'response'; response: ResponseMessage }
  | { kind: 'ended'; exit: ProcessExit }
  | { kind: 'silent'; isAlive: boolean };

/** The reply to a call of a tool. `malformed`: the server answered about its task with something else. */
export type CallReply = Reply | { kind: 'malformed'; message: string };

/** Sends a request and waits for the answer, the end of the process, or the end of the time: that of a call by default. */
export type SendRequest = (method: string, params: JsonObject, afterMs?: number) => Promise<Reply>;
