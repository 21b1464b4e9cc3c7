import type { LocatedAnswer } from '../../cases/suite.ts';
import type { UsedAnswer } from '../../model/client-abilities.ts';
import type { PlannedSuite } from '../plan/plan-suites.ts';

/** The scripted answers of the client that the iterations of a gate used. */
export interface AnswerUse {
  /** Adds the answers that a finished iteration used. */
  add(suiteId: string, caseId: string, used: readonly UsedAnswer[]): void;
  /** Lists a warning for each answer that no iteration used, with its line. Leaves out answers that another iteration could have used. */
  listUnused(suites: readonly PlannedSuite[]): string[];
}

export function createAnswerUse(): AnswerUse {
  /** The names of used answers by suite and case. */
  const used = new Map<string, Set<string>>();
  return {
    add: (suiteId, caseId, answers) => {
      const key = JSON.stringify([suiteId, caseId]);
      const names = used.get(key) ?? new Set();
      used.set(key, names);
      for (const { ability, index } of answers) names.add(nameAnswer({ ability, index }));
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
            // A case that was not selected, or did not finish, might have used it.
            if (ofCase === undefined || ofCase.has(nameAnswer(answer))) excused.add(place);
          }
        }
        // All roots form one answer.
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
