import XCTest

@testable import LiveMap

/// Which connections of a server are closed.
final class ConnectionTableTests: XCTestCase {
    private let start = ContinuousClock.now
    private let local = ClientAddress([127, 0, 0, 1])

    private func table(_ connections: Int, perAddress: Int = 64) -> ConnectionTable {
        var limits = LiveMapServer.Limits()
        limits.connections = connections
        limits.connectionsPerAddress = perAddress
        return ConnectionTable(limits)
    }

    private func far(_ number: UInt8) -> ClientAddress { ClientAddress([192, 0, 2, number]) }

    func testTheClientThatHasBeenSilentForTheLongestTimeIsClosedFirst() {
        var table = table(2)
        XCTAssertEqual(table.open(1, of: far(1), at: start), .accepted)
        XCTAssertEqual(table.open(2, of: far(2), at: start + .seconds(1)), .accepted)
        XCTAssertEqual(table.open(3, of: far(3), at: start + .seconds(2)), .replacing(1))
        XCTAssertEqual(table.count, 3, "the first is about to be closed")
        table.close(1)
        XCTAssertEqual(table.count, 2)
        // A client that sent its request isn't closed.
        table.beginWork(for: 2)
        XCTAssertEqual(table.open(4, of: far(4), at: start + .seconds(3)), .replacing(3))
        table.close(3)
        table.beginWork(for: 4)
        XCTAssertEqual(table.open(5, of: far(5), at: start + .seconds(4)), .refused)
    }

    func testAClientThatHasManyConnectionsLosesItsOldestSilentOne() {
        var table = table(100, perAddress: 3)
        XCTAssertEqual(table.open(1, of: far(1), at: start), .accepted)
        for id in UInt(2)...4 { XCTAssertEqual(table.open(id, of: far(9), at: start), .accepted) }
        XCTAssertEqual(table.open(5, of: far(9), at: start + .seconds(1)), .replacing(2))
        for id in UInt(3)...5 { table.beginWork(for: id) }
        XCTAssertEqual(table.open(6, of: far(9), at: start + .seconds(2)), .refused)
        table.close(6)
        // A reverse proxy on this machine has the connections of all its clients.
        for id in UInt(10)...19 { XCTAssertEqual(table.open(id, of: local, at: start), .accepted) }
    }

    func testTheClientWithTheMostConnectionsIsClosedFirst() {
        var table = table(4)
        XCTAssertEqual(table.open(1, of: far(1), at: start), .accepted)
        for id in UInt(2)...4 {
            XCTAssertEqual(table.open(id, of: far(2), at: start + .seconds(Int(id))), .accepted)
        }
        XCTAssertEqual(table.open(5, of: far(3), at: start + .seconds(9)), .replacing(2))
    }

    func testEachPartOfARequestHasADeadline() {
        var table = table(10)
        _ = table.open(1, of: local, at: start)
        XCTAssertEqual(table.nextDeadline, start + .seconds(10))
        XCTAssertEqual(table.overdue(at: start + .milliseconds(9_999)), [])
        table.receiveHead(of: 1, at: start + .seconds(9))
        XCTAssertEqual(table.nextDeadline, start + .seconds(39), "the body")
        table.beginWork(for: 1)
        XCTAssertNil(table.nextDeadline)
        XCTAssertEqual(table.overdue(at: start + .seconds(100)), [])
        table.endWork(for: 1, at: start + .seconds(100))
        XCTAssertEqual(table.overdue(at: start + .seconds(129)), [])
        XCTAssertEqual(table.overdue(at: start + .seconds(130)), [1], "the next request")
        XCTAssertEqual(table.overdue(at: start + .seconds(131)), [], "it is being closed")
        XCTAssertEqual(table.count, 1)
        table.close(1)
        XCTAssertEqual(table.count, 0)
    }

    func testAddressesOfOneCustomerAreOne() {
        let prefix: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1]
        let one = ClientAddress(prefix + [0, 0, 0, 0, 0, 0, 0, 1])
        XCTAssertEqual(one, ClientAddress(prefix + [9, 9, 9, 9, 9, 9, 9, 9]))
        XCTAssertFalse(one.isLoopback)
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
        XCTAssertEqual(ClientAddress(mapped), local)
        XCTAssertTrue(local.isLoopback)
        XCTAssertTrue(ClientAddress(Array(repeating: 0, count: 15) + [1]).isLoopback)
    }
}
