export { Customer, CustomerInput, CustomerPatch } from './customer.ts';
export {
  createCustomer,
  deleteCustomer,
  getCustomer,
  listCustomers,
  requireCustomer,
  updateCustomer,
} from './customers.ts';
