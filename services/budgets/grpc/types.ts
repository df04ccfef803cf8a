import type { ServiceImplementation } from 'nice-grpc';
import type { BudgetServiceDefinition } from '#proto/budget/v1/budget_service.ts';

export type {
  DeepPartial,
  UpdateBudgetRequest,
  WatchBudgetResponse,
} from '#proto/budget/v1/budget_service.ts';

/** The methods of the service, with what the middleware adds to their context. */
export type BudgetServiceImplementation<Extra> = ServiceImplementation<BudgetServiceDefinition, Extra>;
