import { answerOperators } from './answer-operators.ts';
import type { Operator } from './define-operator.ts';
import { documentOperators } from './document-operators.ts';
import { toolOperators } from './tool-operators.ts';

/** All operators: those that change an answer, and those that change the declaration of a tool. */
export const operators: readonly Operator[] = [...documentOperators, ...answerOperators, ...toolOperators];
