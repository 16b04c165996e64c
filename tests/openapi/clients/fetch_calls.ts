// Five calls with openapi-fetch over the types that openapi-typescript makes: `node fetch_calls.js ADDRESS KEY`.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

declare const process: { argv: string[]; exitCode?: number };

const [, , baseUrl, key] = process.argv;
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
      body: { first_name: "Maria", last_name: "Lopez", state: "CA", email: "maria@example.com" },
    }),
  ).data;
  const employee = accepted(
    await client.POST("/api/v1/employees", {
      params: { header: { "Idempotency-Key": "rosa" } },
      body: { first_name: "Rosa", last_name: "Diaz", pay_rate: 28.5, start_date: "2026-01-05", employer_id: household.id },
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
  const { error } = await client.POST("/api/v1/payroll/preview", { body: { ...payroll, employees: [] } });
  if (error?.error.code !== "validation_error") throw new Error("not refused");
}

call().catch((cause) => {
  console.error(cause);
  process.exitCode = 1;
});
