// Shows how the SDKs of model providers report errors: describe() runs a call that must fail, and prints the error as one line with
// tabs in between: STATUS, CLASS, CODE, REQUEST ID, and err.message.
export async function describe(call, membersOf) {
  let error;
  try {
    await call();
  } catch (thrown) {
    error = thrown;
  }
  if (error === undefined) throw new Error('the call has not failed');
  const {status, type, code, requestId} = membersOf(error);
  console.log([status, type, code, requestId, error.message].join('\t'));
}
