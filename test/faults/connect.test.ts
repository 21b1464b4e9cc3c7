import { describePhase } from './describe-phase.ts';

describePhase('P0');
