import { describeChatHistory, describeResponsesHistory } from "../providers/history-suite.ts";
import { readRecordings } from "./folder.ts";

describeChatHistory("recorded chat answers as history", readRecordings("chat"));
describeResponsesHistory("recorded Responses answers as history", readRecordings("responses"));
