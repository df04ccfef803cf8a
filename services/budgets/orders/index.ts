export { Order, OrderInput, OrderPatch } from './order.ts';
export { createOrder, deleteOrder, getOrder, listOrders, updateOrder } from './orders.ts';
