import FoundationEssentials
import IndoorLocalization
import VenuePackets
import XCTest

/// The images of floor plans, read from this machine.
final class LocalImageReaderTests: XCTestCase {
    private func plan(_ path: String?) -> FloorPlan {
        FloorPlan(
            venueID: 1, map: VenueMap(id: 10, name: "ground", level: 0, width: 40, height: 30, imagePath: path))
    }

    func testAnImageIsReadPieceByPieceWithProgress() async throws {
        let folder = try temporaryFolder()
        let image = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try Data(image).write(to: URL(filePath: folder + "/ground.png"))
        let fetch = plan(folder + "/ground.png").fetchImage(with: LocalImageReader())
        let progress = fetch.progress
        let bytes = try await fetch.value
        XCTAssertEqual(bytes, image)
        var fractions: [Double] = []
        for await fraction in progress { fractions.append(fraction) }
        XCTAssertEqual(fractions.last, 1)
        XCTAssertEqual(fractions, fractions.sorted())
    }

    func testTheErrorOfAMissingImageNamesIt() async throws {
        let folder = try temporaryFolder()
        let fetch = plan(folder + "/none.png").fetchImage(with: LocalImageReader())
        do {
            _ = try await fetch.value
            XCTFail("there is no such file")
        } catch {
            guard case .failed(let failure) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(failure.message.contains("none.png"), failure.message)
        }
    }
}
