export { Customer, CustomerInput, CustomerPatch, customerFields } from './customer.ts';
export {
  createCustomer,
  deleteCustomer,
  getCustomer,
  listCustomers,
  requireCustomer,
  updateCustomer,
} from './customers.ts';
