/** Other paths of the same operations: what is short for a path, and what one vendor calls differently. */
export const pathAliases: ReadonlyArray<{ alias: string; path: string; operations: readonly string[] }> = [
  {
    alias: '/eval-runs',
    path: '/projects/{projectId}/eval-runs',
    operations: [
      'createEvalRun',
      'getEvalRun',
      'cancelEvalRun',
      'listEvalRunIterations',
      'getEvalRunSteps',
      'getEvalIterationTrace',
    ],
  },
];
