import type { z } from 'zod';
import { appChecks } from './app.ts';
import { callChecks } from './calls.ts';
import { clientChecks } from './client-requests.ts';
import { customKind } from './custom.ts';
import type { CheckKind } from './define-check.ts';
import { findableChecks } from './findable.ts';
import { elementKinds, type ElementKind } from './elements.ts';
import { heuristicChecks } from './heuristics.ts';
import { judgeKind } from './model-judge.ts';
import { notificationChecks } from './notifications.ts';
import { replyChecks } from './reply.ts';
import { responseChecks } from './response.ts';
import { toolDefinitionChecks } from './tool-definitions.ts';
import { toolResultChecks } from './tool-result.ts';
import { widgetChecks } from './widgets.ts';

const gatingKinds = [
  ...callChecks,
  ...toolDefinitionChecks,
  ...findableChecks,
  ...toolResultChecks,
  ...replyChecks,
  ...notificationChecks,
  ...appChecks,
  ...clientChecks,
  ...responseChecks,
  ...widgetChecks,
  customKind,
];

type FieldsOf<Kind> = Kind extends CheckKind ? z.infer<ReturnType<Kind['createSchema']>> : never;

/** A check that is gating by default. */
export type GatingCheck = FieldsOf<(typeof gatingKinds)[number]>;
export type HeuristicCheck = FieldsOf<(typeof heuristicChecks)[number]>;
export type JudgeCheck = FieldsOf<typeof judgeKind>;

/** The known kinds of assertions: checks, and assertions on the elements of an app. */
export interface CheckRegistry {
  checks: readonly CheckKind[];
  elements: readonly ElementKind[];
  /** Finds the kind of check with this `type`. */
  find(this: void, type: unknown): CheckKind | null;
}

export function createRegistry(checks: readonly CheckKind[], elements: readonly ElementKind[]): CheckRegistry {
  const byType = new Map<unknown, CheckKind>(checks.map((kind) => [kind.type, kind]));
  return { checks, elements, find: (type) => byType.get(type) ?? null };
}

/** All kinds of assertions. */
export const checkRegistry = createRegistry([...gatingKinds, ...heuristicChecks, judgeKind], elementKinds);
