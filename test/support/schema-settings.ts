import { simplifySchemas } from '../../src/supervisor/schema-settings.ts';

// As the command does. The tests build many schemas and use each for only a few values.
simplifySchemas();
