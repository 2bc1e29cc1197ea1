import BlueZScanning
import Glibc
import XCTest

/// Messages written by one connection and read by another one, over a real bus.
final class DBusMessageTests: XCTestCase {
    /// Sends a value to oneself, and reads what comes.
    private func roundTrip(_ body: [BusValue]) throws -> [BusValue] {
        let bus = try PrivateBus()
        defer { bus.remove() }
        let connection = try BusConnection(address: bus.address)
        defer { connection.close() }
        connection.subscribe("type='signal',interface='org.example.Test'")
        var signal = BusMessage(kind: .signal)
        signal.path = "/org/example"
        signal.interface = "org.example.Test"
        signal.member = "Tell"
        signal.body = body
        connection.send(signal)
        var received: BusMessage?
        // Each round waits for the bus, at most a second.
        for _ in 0..<20 where received == nil {
            var waiting = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, 1000)
            XCTAssertTrue(connection.exchange { if $0.member == "Tell" { received = $0 } })
        }
        let message = try XCTUnwrap(received)
        XCTAssertEqual(message.path, "/org/example")
        XCTAssertEqual(message.kind, .signal)
        return message.body
    }

    func testEveryTypeComesBackAsItWasSent() throws {
        let values: [BusValue] = [
            .boolean(true), .byte(255), .int16(-32768), .uint16(65535), .int32(.min), .uint32(.max), .int64(.min),
            .uint64(.max), .double(-1.5), .string("Grüße"), .objectPath("/org/bluez"), .signature("a{sv}"),
            .bytes([0, 1, 255]), .bytes([]), .array([.string("a"), .string("b")], of: "s"), .array([], of: "(yyay)"),
            .structure([.byte(1), .bytes([2])]), .variant(.variant(.int16(-7))),
            .properties(["RSSI": .int16(-60), "Data": .bytes([1])]), .dictionary([:], of: "oa{sa{sv}}"),
            .array([.structure([.byte(0), .byte(0xFF), .bytes([0x4C])])], of: "(yyay)"),
        ]
        XCTAssertEqual(try roundTrip(values), values)
    }

    func testWhatTheMonitorShowsHasTheSignaturesOfTheInterface() throws {
        var call = BusMessage.call(
            "GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", on: AdvertisementMonitor.rootPath,
            at: ":1.9", serial: 1)
        call.sender = ":1.7"
        let body = try XCTUnwrap(AdvertisementMonitor.answer(call)).body
        XCTAssertEqual(body.map(\.typeSignature), ["a{oa{sa{sv}}}"])
        XCTAssertEqual(try roundTrip(body), body)
        let monitor = body.first?.properties[AdvertisementMonitor.path]?.properties[AdvertisementMonitor.interface]
        XCTAssertEqual(monitor?.properties["Type"], .string("or_patterns"))
        XCTAssertEqual(monitor?.properties["Patterns"]?.typeSignature, "a(yyay)")
    }

    func testCallsThatAreUnknownAreRefusedAndOthersThatWantNoAnswerGetNone() {
        var call = BusMessage.call("Nonsense", of: "org.example", on: "/", at: ":1.9", serial: 1)
        XCTAssertEqual(
            AdvertisementMonitor.answer(call)?.errorName, "org.freedesktop.DBus.Error.UnknownMethod")
        call.expectsReply = false
        XCTAssertNil(AdvertisementMonitor.answer(call))
    }

    func testAStrangerWhoCallsIsDenied() {
        var stage = DBusStage()
        stage.begin()
        var call = BusMessage.call(
            "Release", of: AdvertisementMonitor.interface, on: AdvertisementMonitor.path, at: ":1.9", serial: 4)
        call.sender = ":1.666"
        stage.happen(.received(call))
        guard case .send(let answer)? = stage.directives.first else { return XCTFail("no answer") }
        XCTAssertEqual(answer.errorName, "org.freedesktop.DBus.Error.AccessDenied")
        XCTAssertEqual(stage.machine.memory.monitor, .untried)
    }
}
