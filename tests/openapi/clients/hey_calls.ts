// Calls with the client that @hey-api/openapi-ts makes, and files: `node hey_calls.js ADDRESS TEST_KEY FOLDER`.
import {
  calculate,
  createEmployee,
  createEmployer,
  getDocument,
  issueEfw2,
  issuePaystub,
  issueYearPackage,
  listDocuments,
  listPayrolls,
  previewPayroll,
  runPayroll,
  setSandboxEin,
} from "./hey";
import type { ErrorCode, PayrollRequest } from "./hey";
import { client } from "./hey/client.gen";

declare const process: {
  argv: string[];
  exitCode?: number;
  getBuiltinModule(name: "node:fs"): { writeFileSync(path: string, data: Uint8Array | string): void };
};

const [, , baseUrl, key, folder] = process.argv;
const { writeFileSync } = process.getBuiltinModule("node:fs");
const address = { line1: "2201 Mission St", city: "San Francisco", state: "CA", zip: "94110" };
client.setConfig({ baseUrl: baseUrl!, auth: (scheme) => (scheme.scheme === "bearer" ? key : undefined) });

async function call(): Promise<void> {
  const estimate = await calculate({ body: { state: "CA", annual_wages: 35000 }, throwOnError: true });
  if (!(estimate.data.data.employer_taxes.total > 0)) throw new Error("no taxes");
  const household = await createEmployer({
    body: { first_name: "Maria", last_name: "Lopez", state: "CA", email: "maria@example.com", address },
    throwOnError: true,
  });
  const employer_id = household.data.data.id;
  const employee = await createEmployee({
    headers: { "Idempotency-Key": "rosa" },
    body: { first_name: "Rosa", last_name: "Diaz", pay_rate: 28.5, start_date: "2026-01-05", employer_id, address },
    throwOnError: true,
  });
  const payroll: PayrollRequest = {
    pay_period_start: "2026-11-02",
    pay_period_end: "2026-11-15",
    pay_frequency: "biweekly",
    pay_date: "2026-11-20",
    employer_id,
    employees: [{ employee_id: employee.data.data.id, regular_hours: 80, payment_method: "check" }],
  };
  const preview = await previewPayroll({ body: payroll, throwOnError: true });
  const run = await runPayroll({ body: payroll, throwOnError: true });
  const { total_net_pay } = run.data.data.totals;
  if (!(total_net_pay > 0 && total_net_pay === preview.data.data.totals.total_net_pay)) throw new Error("another net pay");
  const listed = await listPayrolls({ query: { employer_id }, throwOnError: true });
  if (listed.data.data[0]?.payroll_id !== run.data.data.payroll_id) throw new Error("another payroll");
  await refused(payroll);
  await setSandboxEin({ path: { employer_id }, body: { magic: "assigned" }, throwOnError: true });
  await save(employer_id, run.data.data.payroll_id);
}

async function refused(payroll: PayrollRequest): Promise<void> {
  const nobody = (await previewPayroll({ body: { ...payroll, employees: [] } })).error?.error;
  if (nobody?.code !== "validation_error" || !("details" in nobody)) throw new Error("not refused");
  if (nobody.details?.[0]?.field !== "employees") throw new Error("another field");
  const employees = payroll.employees.map((each) => ({ ...each, payment_method: "direct_deposit" as const }));
  const tooEarly = (await previewPayroll({ body: { ...payroll, employees } })).error?.error;
  if (tooEarly?.code !== "pay_date_past_deadline" || !("details" in tooEarly)) throw new Error("not too early");
  const next: string = tooEarly.details.next_valid_pay_date;
  if (!(next > tooEarly.details.pay_date)) throw new Error("no later day");
  const known: ErrorCode = "authentication_required";
  const unknown = (await previewPayroll({ body: payroll, auth: () => "none" })).error?.error;
  if (unknown?.code !== known) throw new Error("let in");
}

async function keep(name: string, file: Blob): Promise<void> {
  writeFileSync(`${folder}/${name}`, new Uint8Array(await file.arrayBuffer()));
}

async function save(employer_id: string, payroll_id: string): Promise<void> {
  await keep("stub.pdf", (await issuePaystub({ body: { employer_id, payroll_id }, throwOnError: true })).data);
  const first = (await listDocuments({ query: { employer_id }, throwOnError: true })).data.data;
  const document_id = first.find((each) => each.kind === "paystub")!.id;
  await keep("again.pdf", (await getDocument({ path: { document_id }, throwOnError: true })).data);
  const body = { employer_id, tax_year: 2026, submitter: { user_id: "AB12CD34", phone: "415-555-0134" } };
  writeFileSync(`${folder}/wages.txt`, (await issueEfw2({ body, throwOnError: true })).data);
  const papers = (await issueYearPackage({ body, throwOnError: true })).data;
  if (!(papers instanceof Blob)) throw new Error("the worker makes it");
  await keep("package.zip", papers);
  // A text comes as text, unless it is asked for as the file that the type promises.
  const later = (await listDocuments({ query: { employer_id }, throwOnError: true })).data.data;
  const wage_file = later.find((each) => each.kind === "efw2")!.id;
  const text = await getDocument({ path: { document_id: wage_file }, parseAs: "blob", throwOnError: true });
  if (!(await text.data.text()).startsWith("RA")) throw new Error("another file");
}

call().catch((cause) => {
  console.error(cause);
  process.exitCode = 1;
});
