import BlueZScanning
import IndoorLocalization
import XCTest

final class HCIScanSourceTests: XCTestCase {
    func testThePaceIsLive() {
        XCTAssertEqual(HCIScanSource().pace, .live)
    }

    func testTheScanIsContinuousByDefault() {
        let source = HCIScanSource()
        XCTAssertEqual(source.mode, .passive)
        XCTAssertEqual(source.window, source.interval)
        XCTAssertEqual(source.content, .beacons)
        XCTAssertEqual(source.adapter, .first)
    }

    /// With or without permission on this computer, the stream either throws an error or reports the status of the
    /// radio.
    func testTheStreamImmediatelyReportsAStatusOrThrows() async throws {
        let refusal: BluetoothError?
        do throws(BluetoothError) {
            try HCIScanSource.checkPermission()
            refusal = nil
        } catch {
            refusal = error
        }
        // An adapter that doesn't exist, so that the test changes nothing.
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

    func testTheListOfAdaptersFailsWithTheSameErrorAsAScan() {
        do throws(BluetoothError) {
            _ = try BluetoothAdapter.all()
        } catch {
            XCTAssertThrowsError(try HCIScanSource.checkPermission()) { XCTAssertEqual($0 as? BluetoothError, error) }
        }
    }
}
