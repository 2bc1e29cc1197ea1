import IndoorLocalization
import XCTest

@testable import indoorloc

final class EventOutputTests: XCTestCase {
    private func json(_ kind: LocalizationEvent.Kind) -> String {
        let event = LocalizationEvent(instant: Instant(seconds: 1.5), venueID: 7, kind: kind)
        return SessionReplay.Output(instant: event.instant, content: .event(event)).json
    }

    private func fence(_ payload: JSONValue?) -> Fence {
        Fence(id: 3, name: "Desk", mapID: 1, area: .circle(center: MapPoint(x: 0, y: 0), radius: 1), payload: payload)
    }

    func testAnEventOfAFenceHasItsPayload() throws {
        let payload = JSONValue.object([
            "b": .array([.number(1), .number(0.25), .null, .bool(true)]), "a": .string("say \"hi\""),
        ])
        XCTAssertEqual(
            json(.enterFence(fence(payload))),
            #"{"t":1.500,"type":"event","event":"enterFence","venueId":7,"id":3,"name":"Desk","#
                + #""payload":{"a":"say \"hi\"","b":[1,0.25,null,true]}}"#)
        XCTAssertEqual(
            json(.exitFence(fence(.number(.infinity)))),
            #"{"t":1.500,"type":"event","event":"exitFence","venueId":7,"id":3,"name":"Desk","payload":null}"#)
    }

    func testAnEventHasTheWallClockTimeIfKnown() {
        let event = LocalizationEvent(
            instant: Instant(seconds: 1.5), unixTime: UnixTime(milliseconds: 1_700_000_000_123), venueID: 7,
            kind: .exitRoom(Room(id: 4, name: "Hall", mapID: 1)))
        XCTAssertEqual(
            SessionReplay.Output(instant: event.instant, content: .event(event)).json,
            #"{"t":1.500,"type":"event","event":"exitRoom","venueId":7,"id":4,"name":"Hall","#
                + #""unixMilliseconds":1700000000123}"#)
    }

    func testAnInteractionHasItsOwnLine() {
        let interaction = Interaction(
            id: 4, name: "Welcome", target: .room(1), genericContent: "hello",
            contents: [Interaction.Content(id: 1, language: "de", text: "Guten Tag", link: "https://example.org")],
            payload: .bool(true))
        let event = InteractionEvent(
            instant: Instant(seconds: 1.5), unixTime: UnixTime(milliseconds: 5), venueID: 7, interaction: interaction,
            isEntry: false)
        XCTAssertEqual(
            SessionReplay.Output(instant: event.instant, content: .interaction(event)).json,
            #"{"t":1.500,"type":"interaction","event":"exit","venueId":7,"id":4,"name":"Welcome","#
                + #""genericContent":"hello","contents":[{"id":1,"language":"de","content":"Guten Tag","#
                + #""link":"https://example.org"}],"payload":true,"unixMilliseconds":5}"#)
    }

    /// A program need not parse the text.
    func testAnErrorHasCodeKindAndStatusAsFields() {
        func json(_ error: LocalizationError) -> String {
            SessionReplay.Output(instant: .zero, content: .error(error)).json
        }
        XCTAssertEqual(
            json(LocalizationError(code: .network, message: "no", kind: .contentUnavailable, status: .http(404))),
            #"{"t":0.000,"type":"error","code":"network","kind":"contentUnavailable","httpStatus":404,"message":"no"}"#)
        XCTAssertEqual(
            json(
                LocalizationError(
                    code: .critical, message: "no", cause: "x", kind: .sensorFailed, status: .system(19))),
            #"{"t":0.000,"type":"error","code":"critical","kind":"sensorFailed","errno":19,"message":"no","cause":"x"}"#
        )
        let state = SessionReplay.Output(
            instant: .zero, content: .state(.error(LocalizationError(code: .credential, message: "no"))))
        XCTAssertEqual(
            state.json,
            #"{"t":0.000,"type":"state","state":"error","code":"credential","kind":"invalidCredentials","#
                + #""message":"credential error: no"}"#)
    }

    func testAnEventWithoutAPayloadHasNoPayloadMember() {
        XCTAssertEqual(
            json(.enterFence(fence(nil))),
            #"{"t":1.500,"type":"event","event":"enterFence","venueId":7,"id":3,"name":"Desk"}"#)
        XCTAssertEqual(
            json(.exitRoom(Room(id: 4, name: "Hall", mapID: 1))),
            #"{"t":1.500,"type":"event","event":"exitRoom","venueId":7,"id":4,"name":"Hall"}"#)
    }
}
