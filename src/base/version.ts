/** The product's name and version as reports and the User-Agent carry them; a test holds them to package.json. */
export const generator = { name: 'mcp-eval-ci', version: '0.1.0' } as const;
