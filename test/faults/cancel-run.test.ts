import { describePhase } from './describe-phase.ts';

describePhase('P9a');
