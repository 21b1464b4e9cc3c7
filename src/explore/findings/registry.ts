import type { FindingDefinition } from './define-finding.ts';
import { crash } from './kinds/crash.ts';
import { destructiveHintMissing } from './kinds/destructive-hint-missing.ts';
import { errorFlag } from './kinds/error-flag.ts';
import { hang } from './kinds/hang.ts';
import { idempotentLie } from './kinds/idempotent-lie.ts';
import { leak } from './kinds/leak.ts';
import { outputSchema } from './kinds/output-schema.ts';
import { protocol } from './kinds/protocol.ts';
import { readOnlyLie } from './kinds/read-only-lie.ts';
import { schemaDefault } from './kinds/schema-default.ts';
import { schemaTooLoose } from './kinds/schema-too-loose.ts';
import { schemaTooStrict } from './kinds/schema-too-strict.ts';

/** All kinds of findings, in the order of reports. */
export const findingDefinitions: readonly FindingDefinition[] = [
  crash,
  hang,
  protocol,
  outputSchema,
  leak,
  readOnlyLie,
  errorFlag,
  schemaTooStrict,
  schemaDefault,
  idempotentLie,
  destructiveHintMissing,
  schemaTooLoose,
];
