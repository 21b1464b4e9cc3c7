/** The severity of a log message, least severe first (RFC 5424). */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The lists that a server can report as changed. */
export const changingLists = ['tools', 'resources', 'prompts'] as const;
export type ChangingList = (typeof changingLists)[number];

/** A notification that does not belong to a call. */
export type ServerNotification =
  | { kind: 'log'; level: LogLevel; logger: string | null; data: unknown }
  | { kind: 'listChanged'; of: ChangingList };

/** A notification about a call: its progress, or a new state of its task. */
export type CallUpdate =
  | { kind: 'progress'; progress: number; total: number | null; message: string | null }
  | { kind: 'task'; taskId: string; status: TaskStatus; message: string | null };

export const taskStatuses = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** A notification about the server or about a call. */
export type Report = ServerNotification | (CallUpdate & { toolCallId: string; toolName: string });

/** A notification with its arrival time, in epoch milliseconds. */
export type Notification = { atMs: number } & Report;
