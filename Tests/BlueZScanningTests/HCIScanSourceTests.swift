import BlueZScanning
import IndoorLocalization
import XCTest

final class HCIScanSourceTests: XCTestCase {
    func testItsTimePassesByItself() {
        XCTAssertEqual(HCIScanSource().pace, .live)
    }

    func testItListensAllTheTimeUnlessToldOtherwise() {
        let source = HCIScanSource()
        XCTAssertEqual(source.mode, .passive)
        XCTAssertEqual(source.window, source.interval)
        XCTAssertEqual(source.content, .beacons)
        XCTAssertEqual(source.adapter, .first)
    }

    /// Whether this machine lets us or not: either the stream says why not, or it says what the radio does.
    func testTheStreamSaysAtOnceWhetherItMayScan() async throws {
        let refusal: BluetoothError?
        do throws(BluetoothError) {
            try HCIScanSource.checkPermission()
            refusal = nil
        } catch {
            refusal = error
        }
        // An adapter that nobody has: nothing is touched.
        let nobody = AdapterChoice.address(DeviceAddress(rawValue: 0xFFFF_FFFF_FFFE))
        var readings = HCIScanSource(adapter: nobody).readings().makeAsyncIterator()
        do {
            guard case .radio(let event)? = try await readings.next() else {
                return XCTFail("a radio event was expected")
            }
            XCTAssertEqual(event.status, .unplugged)
            XCTAssertNil(refusal)
        } catch {
            XCTAssertEqual(error as? BluetoothError, refusal)
        }
    }

    func testTheListOfAdaptersFailsForTheSameReasonAsAScan() {
        do throws(BluetoothError) {
            _ = try BluetoothAdapter.all()
        } catch {
            XCTAssertThrowsError(try HCIScanSource.checkPermission()) { XCTAssertEqual($0 as? BluetoothError, error) }
        }
    }
}
