// Sends the form of a page that has nothing to ask, where scripts run.
const form = document.querySelector('form[data-submit]');
if (form instanceof HTMLFormElement) form.submit();
