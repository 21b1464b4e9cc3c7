import { answerOperators } from './answer-operators.ts';
import type { Operator } from './define-operator.ts';
import { documentOperators } from './document-operators.ts';
import { modelOperators } from './model-operators.ts';
import { toolOperators } from './tool-operators.ts';

/** All operators: those that change an answer, the declaration of a tool, or what a model answers. */
export const operators: readonly Operator[] = [
  ...documentOperators,
  ...answerOperators,
  ...toolOperators,
  ...modelOperators,
];
