import { answerOperators } from './answer-operators.ts';
import type { Operator } from './define-operator.ts';
import { documentOperators } from './document-operators.ts';

/** All operators that change an answer. */
export const operators: readonly Operator[] = [...documentOperators, ...answerOperators];
