import { describeChatHistory, describeResponsesHistory } from "./history-suite.ts";
import { readOwnStreams } from "./streams.ts";

describeChatHistory("chat answers as history", readOwnStreams("chat"));
describeResponsesHistory("Responses answers as history", readOwnStreams("responses"));
