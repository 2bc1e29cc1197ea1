import Foundation
import LoopbackServers
import XCTest

/// The HTTP interface of the command `track`.
final class TrackPageTests: XCTestCase {
    func testThePostedMessagesOfGatewaysGiveAPositionInTheInterfaceOfTrack() throws {
        let port = try TestPort.free()
        // No broker listens at its port, which doesn't concern messages over HTTP.
        let tool = try ToolProcess([
            "track", "--broker", "mqtt://127.0.0.1:\(try TestPort.free())", "--venue", "Fixtures/tags/office", "--http",
            "127.0.0.1:\(port)",
        ])
        defer { tool.kill() }
        try RawClient.wait(for: "the server of track") {
            (try? RawClient.get("/api/v1/health", port: port))?.status == 200
        }
        try RawClient.wait(for: "the position of the tag") {
            for (receiver, rssi) in [("ground-01", -60), ("ground-02", -70), ("ground-03", -65)] {
                let time = Int(Date().timeIntervalSince1970 * 1000)
                let message = """
                    {"transmitterId":"fee150bada55","transmitterIdType":2,"timestamp":\(time),"rssiSignature":
                    [{"receiverId":"\(receiver)","receiverIdType":2,"rssi":\(rssi),"numberOfDecodings":1}]}
                    """
                let reply = try RawClient.request("POST", "/api/v1/gateways/raddec", port: port, body: message)
                XCTAssertEqual(reply.status, 204, reply.text)
            }
            return try RawClient.get("/api/v1/tags/FE:E1:50:BA:DA:55", port: port).text.contains(#""mapId":1,"#)
        }
        XCTAssertEqual(try RawClient.request("POST", "/api/v1/gateways/raddec", port: port, body: "x").status, 400)
        let metrics = try RawClient.get("/metrics", port: port).text
        XCTAssertTrue(metrics.contains("indoorloc_fleet_positions_total"), metrics)
        XCTAssertTrue(metrics.contains("indoorloc_intake_messages_total"), metrics)
        XCTAssertTrue(metrics.hasSuffix("# EOF\n"), metrics)
        XCTAssertEqual(try RawClient.get("/", port: port).status, 200)
        // Gateways of tags that aren't located count, and a misspelt name is answered with a question.
        try RawClient.wait(for: "the misspelt gateway") {
            let message = #"{"trackingId":"someone","sourceId":"ground-O4","rssi":-60}"#
            XCTAssertEqual(
                try RawClient.request("POST", "/api/v1/gateways/kontakt", port: port, body: message).status, 204)
            let text = try RawClient.get("/api/v1/receivers", port: port).text
            return text.contains(#""text":"unknown gateway \"ground-O4\": is it \"ground-0"#)
                && text.contains(#""id":"ground-01""#) && text.contains("lastMessage")
        }
    }
}
