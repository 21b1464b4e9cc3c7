/** A value that only the environment of the server has. */
export const environmentCanary = { name: 'EXPLORER_CANARY', value: 'canary-3f9c51d2e7-environment' } as const;

/** A file next to the workspace, which a server has no reason to read. */
export const fileCanary = { name: 'outside.txt', value: 'canary-84ab60c91f-outside-the-workspace' } as const;

/** Checks if the arguments of a call name something outside of the workspace. */
export const namesOutside = (text: string): boolean => /\{\{outside\}\}|(?<![\w.])\.\.\/outside\//.test(text);
