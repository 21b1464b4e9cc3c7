import { describe, expect, it } from 'vitest';
import { compareWithBase, countPairs, listBaseRegressions, listSuspects } from '../../src/verdict/compare-base.ts';
import { describeBase } from '../../src/report/base-comparison.ts';
import type { PairedCase } from '../../src/model/base-comparison.ts';
import { applyPolicyDefaults, emptyPolicyLayer, type SuiteRequirements } from '../../src/model/policy.ts';
import { createSuiteResults } from '../support/factories/suite-results.ts';
