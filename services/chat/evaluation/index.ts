export {
  evaluateStrategies,
  indexSet,
  missingDocuments,
  type StrategyScores,
  sharedLibraries,
} from './evaluate.ts';
export { readLabelledSet } from './labelled-set.ts';
