// Calls with openapi-fetch over the types that openapi-typescript makes, and files:
// `node fetch_calls.js ADDRESS TEST_KEY FOLDER`.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

declare const process: {
  argv: string[];
  exitCode?: number;
  getBuiltinModule(name: "node:fs"): { writeFileSync(path: string, data: Uint8Array | string): void };
};

const [, , baseUrl, key, folder] = process.argv;
const { writeFileSync } = process.getBuiltinModule("node:fs");
const address = { line1: "2201 Mission St", city: "San Francisco", state: "CA", zip: "94110" };
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: `Bearer ${key}` } });

function accepted<Envelope>(answer: { data?: Envelope; error?: unknown }): Envelope {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

async function call(): Promise<void> {
  const estimate = accepted(await client.POST("/api/v1/calculate", { body: { state: "CA", annual_wages: 35000 } }));
  if (!(estimate.data.employer_taxes.total > 0)) throw new Error("no taxes");
  const household = accepted(
    await client.POST("/api/v1/employers", {
      body: { first_name: "Maria", last_name: "Lopez", state: "CA", email: "maria@example.com", address },
    }),
  ).data;
  const employee = accepted(
    await client.POST("/api/v1/employees", {
      params: { header: { "Idempotency-Key": "rosa" } },
      body: { first_name: "Rosa", last_name: "Diaz", pay_rate: 28.5, start_date: "2026-01-05", employer_id: household.id, address },
    }),
  ).data;
  const payroll: components["schemas"]["PayrollRequest"] = {
    pay_period_start: "2026-11-02",
    pay_period_end: "2026-11-15",
    pay_frequency: "biweekly",
    pay_date: "2026-11-20",
    employer_id: household.id,
    employees: [{ employee_id: employee.id, regular_hours: 80, payment_method: "check" }],
  };
  const preview = accepted(await client.POST("/api/v1/payroll/preview", { body: payroll })).data;
  const run = accepted(await client.POST("/api/v1/payroll/run", { body: payroll })).data;
  if (!(run.totals.total_net_pay > 0 && run.totals.total_net_pay === preview.totals.total_net_pay)) throw new Error("another net pay");
  const listed = accepted(await client.GET("/api/v1/payrolls", { params: { query: { employer_id: household.id } } }));
  if (listed.data[0]?.payroll_id !== run.payroll_id) throw new Error("another payroll");
  await refused(payroll);
  accepted(
    await client.POST("/api/v1/sandbox/employers/{employer_id}/ein", {
      params: { path: { employer_id: household.id } },
      body: { magic: "assigned" },
    }),
  );
  await save(household.id, run.payroll_id);
}

async function refused(payroll: components["schemas"]["PayrollRequest"]): Promise<void> {
  const nobody = (await client.POST("/api/v1/payroll/preview", { body: { ...payroll, employees: [] } })).error?.error;
  if (nobody?.code !== "validation_error" || !("details" in nobody)) throw new Error("not refused");
  if (nobody.details?.[0]?.field !== "employees") throw new Error("another field");
  const employees = payroll.employees.map((each) => ({ ...each, payment_method: "direct_deposit" as const }));
  const tooEarly = (await client.POST("/api/v1/payroll/preview", { body: { ...payroll, employees } })).error?.error;
  if (tooEarly?.code !== "pay_date_past_deadline" || !("details" in tooEarly)) throw new Error("not too early");
  const next: string = tooEarly.details.next_valid_pay_date;
  if (!(next > tooEarly.details.pay_date)) throw new Error("no later day");
  const known: components["schemas"]["ErrorCode"] = "authentication_required";
  const stranger = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: "Bearer none" } });
  const unknown = (await stranger.POST("/api/v1/payroll/preview", { body: payroll })).error?.error;
  if (unknown?.code !== known) throw new Error("let in");
}

async function save(employer_id: string, payroll_id: string): Promise<void> {
  const parseAs = "arrayBuffer";
  const stub = accepted(await client.POST("/api/v1/documents/paystub", { body: { employer_id, payroll_id }, parseAs }));
  writeFileSync(`${folder}/stub.pdf`, new Uint8Array(stub));
  const listed = accepted(await client.GET("/api/v1/documents", { params: { query: { employer_id } } })).data;
  const document_id = listed.find((each) => each.kind === "paystub")!.id;
  const path = { document_id };
  const again = accepted(await client.GET("/api/v1/documents/{document_id}", { params: { path }, parseAs }));
  writeFileSync(`${folder}/again.pdf`, new Uint8Array(again));
  const year = { employer_id, tax_year: 2026, submitter: { user_id: "AB12CD34", phone: "415-555-0134" } };
  const wages = accepted(await client.POST("/api/v1/documents/efw2", { body: year, parseAs: "text" }));
  writeFileSync(`${folder}/wages.txt`, wages);
  const papers = accepted(await client.POST("/api/v1/documents/year-package", { body: year, parseAs }));
  writeFileSync(`${folder}/package.zip`, new Uint8Array(papers));
}

call().catch((cause) => {
  console.error(cause);
  process.exitCode = 1;
});
