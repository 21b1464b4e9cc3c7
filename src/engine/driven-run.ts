import type { ToolPolicy } from '../cases/case.ts';
import type { HostProgram, HostSettings } from '../host-drivers/host-programs.ts';
import type { ModelSession } from '../models/language-model.ts';
import type { Connection } from './process-loss.ts';
import type { CallOrigin } from './span-parts.ts';
import type { StepOutcome } from './step-outcome.ts';
import type { CallRecording } from './tool-call.ts';
import type { AllTools } from './tool-list.ts';

/** A host that holds the conversation of a prompt, and the model that answers it. */
export interface DrivenTurn {
  program: HostProgram;
  settings: HostSettings;
  session: ModelSession;
  toolPolicy: ToolPolicy;
  /** The largest number of answers of the model. */
  maxSteps: number;
  modelTimeoutMs: number | null;
}

/** Why the gate ends a host. */
export type Stop = { outcome: StepOutcome } | { error: unknown };

/** The state that both sides of a host share: its requests to the server and those to the model. */
export interface DrivenRun {
  turn: DrivenTurn;
  connection: Connection;
  recording: CallRecording;
  origin: CallOrigin;
  tools: AllTools;
  prompt: string;
  acceptsRefusal: boolean;
  /** The servers whose tools the host has listed. */
  listed: Set<Connection>;
  /** Ends the host, and with it the step. The first outcome or error counts. */
  stop(end: Stop): void;
  /** Aborts when the host is to end. */
  signal: AbortSignal;
}

/** The name of a server in the configuration of the host. */
export function nameServer({ target: { serverName, shownName = serverName } }: Connection): string {
  return shownName;
}
