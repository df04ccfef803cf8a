export { Order, OrderInput, OrderPatch, orderFields, orderStatuses } from './order.ts';
export { createOrder, deleteOrder, getOrder, listOrders, updateOrder } from './orders.ts';
