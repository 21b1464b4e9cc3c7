/** The product's name and version for reports and the User-Agent; a test compares them with package.json. */
export const generator = { name: 'mcp-eval-ci', version: '0.1.0' } as const;
