import type { LocatedAnswer } from '../../model/suite.ts';
import type { AnswersOfIteration } from '../../embedded/runner.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

/** Which scripted answers of the client the iterations of a gate used. */
export interface AnswerUse {
  /** Hears of each iteration that got to its end, from the service inside this process. */
  onIteration(answers: AnswersOfIteration): void;
  /** Says which cases of a suite the cases of a run are. */
  addRun(runId: string, run: { suiteId: string; caseIds: ReadonlyMap<string, string> }): void;
  /** Warns of each answer that no iteration used, with its line. Answers are left out that another iteration could have used. */
  listUnused(suites: readonly PlannedSuite[]): string[];
}

export function createAnswerUse(): AnswerUse {
  const heard = new Map<string, AnswersOfIteration[]>();
  /** By suite and case. */
  const used = new Map<string, Set<string>>();
  return {
    onIteration: (answers) => {
      const ofRun = heard.get(answers.runId) ?? [];
      heard.set(answers.runId, ofRun);
      ofRun.push(answers);
    },
    addRun: (runId, { suiteId, caseIds }) => {
      for (const answers of heard.get(runId) ?? []) {
        const key = JSON.stringify([suiteId, caseIds.get(answers.caseId)]);
        const names = used.get(key) ?? new Set();
        used.set(key, names);
        for (const { ability, index } of answers.used) names.add(nameAnswer({ ability, index }));
      }
      heard.delete(runId);
    },
    listUnused: (suites) =>
      suites.flatMap((planned) => {
        if (planned.kind === 'stored') return [];
        const { suite, whole } = planned;
        const answers = new Map<string, LocatedAnswer>();
        const excused = new Set<string>();
        for (const { id, client } of whole.cases) {
          const ofCase = used.get(JSON.stringify([suite.id, id]));
          for (const answer of client?.answers ?? []) {
            const { file, line, column } = answer.location;
            const place = `${file}:${line}:${column}`;
            answers.set(place, answer);
            // A case that was not selected, or never got to its end, might have used it.
            if (ofCase === undefined || ofCase.has(nameAnswer(answer))) excused.add(place);
          }
        }
        // All roots are one answer.
        return [...answers].flatMap(([place, { ability, index }]) =>
          excused.has(place) || (ability === 'roots' && index > 0)
            ? []
            : `${place}: no iteration used this answer of \`client.${ability}\`; remove it, or check when the server asks.`,
        );
      }),
  };
}

function nameAnswer({ ability, index }: Pick<LocatedAnswer, 'ability' | 'index'>): string {
  return `${ability} ${index}`;
}
