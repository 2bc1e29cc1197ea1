import BlueZScanning
import XCTest

final class HCIRadioSwitchTests: XCTestCase {
    private var table = RadioSwitchTable()

    /// Returns an event in the kernel's format. Operations are 0 added, 1 removed, 2 changed, 3 all changed.
    private func event(_ index: UInt8, type: UInt8 = 2, operation: UInt8, soft: UInt8 = 0, hard: UInt8 = 0) -> [UInt8] {
        [index, 0, 0, 0, type, operation, soft, hard]
    }

    private func apply(_ bytes: [UInt8]) {
        table.apply(bytes.span) { index in index == 9 ? nil : UInt16(index) + 100 }
    }

    func testASwitchBlocksItsAdapterInHardwareOrSoftware() {
        for (soft, hard): (UInt8, UInt8) in [(1, 0), (0, 1), (1, 1)] {
            apply(event(5, operation: 0))
            XCTAssertEqual(table.blocked, [])
            apply(event(5, operation: 2, soft: soft, hard: hard))
            XCTAssertEqual(table.blocked, [105])
            apply(event(5, operation: 2))
            XCTAssertEqual(table.blocked, [])
        }
    }

    func testARemovedSwitchBlocksNothing() {
        apply(event(5, operation: 0, soft: 1))
        apply(event(6, operation: 0, soft: 1))
        XCTAssertEqual(table.blocked, [105, 106])
        apply(event(5, operation: 1))
        XCTAssertEqual(table.blocked, [106])
    }

    func testSwitchesOfOtherRadiosAreIgnored() {
        apply(event(5, type: 1, operation: 0, soft: 1))
        apply(event(9, operation: 0, soft: 1))
        XCTAssertEqual(table.blocked, [])
    }

    func testATruncatedEventIsIgnored() {
        let whole = event(5, operation: 0, soft: 1)
        for count in 0..<whole.count { apply(Array(whole.prefix(count))) }
        XCTAssertEqual(table.blocked, [])
    }
}
