import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import VenuePackets
import XCTest

/// The pages that `indoorloc view --output` writes, of recordings of real sessions.
final class ViewedRecordingTests: ShownMapCase {
    private func view(_ recording: String, venue: String = "office") throws -> ShownMap {
        let path = FileManager.default.temporaryDirectory.path + "/view-\(UUID().uuidString).html"
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let tool = try ToolProcess([
            "view", "--venue", "Fixtures/" + venue, "--output", path, "Fixtures/" + recording,
        ])
        XCTAssertEqual(try tool.end(), 0)
        let page = try page()
        try page.setViewport(width: 1440, height: 900)
        try page.open("file://" + path)
        let map = ShownMap(page: page)
        try map.waitUntilReady()
        return map
    }

    /// Clicks the time line at a share of the session.
    private func seek(_ map: ShownMap, to share: Double) throws {
        let line = try map.box(of: "#timeline")
        try map.page.click(x: line.left + share * line.width, y: line.top + line.height / 2)
        try map.waitForDrawing()
    }

    func testAWalkShowsItsPositionsErrorsFloorsAndPlan() throws {
        let map = try view("recordings/stairs/scan.jsonl.gz")
        XCTAssertEqual(map.page.problems, [])
        var floors: Set<Int> = []
        var errors = 0
        for share in stride(from: 0.2, through: 0.95, by: 0.15) {
            try seek(map, to: share)
            let state = try map.state
            if let floor = state.estimate?.mapId { floors.insert(floor) }
            let facts = Dictionary(try map.facts.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
            // There is no error between two floors.
            if let error = facts["Error"]?.split(separator: " ").first.flatMap({ Double($0) }) {
                XCTAssertLessThan(error, 12, "at \(share)")
                errors += 1
            }
            XCTAssertGreaterThan(state.particles, 50, "at \(share)")
        }
        XCTAssertEqual(floors, [1, 2])
        XCTAssertGreaterThan(errors, 3)
        XCTAssertTrue(try map.text(of: "#error-summary").contains("Median"))
        XCTAssertEqual(map.page.problems, [])
        // The plan's image covers the floor, so that its canvas has pixels where no room and no wall is drawn.
        for layer in ["walls", "rooms", "fences", "points", "beacons"] {
            try map.page.run("document.querySelector('[data-layer=\(layer)]').click()")
        }
        try map.waitForDrawing()
        try map.page.wait(
            until: """
                (() => {
                    const canvas = document.getElementById("canvas-plan");
                    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                    const colors = new Set();
                    for (let place = 0; place < data.length; place += 4 * 97) colors.add(data.subarray(place, place + 4).join());
                    return colors.size > 8;
                })()
                """)
    }

    func testASessionThatHearsOnlyUnknownBeaconsShowsTheReason() throws {
        let map = try view("real/tetam/tracks/straight_01.jsonl.gz")
        try seek(map, to: 0.9)
        XCTAssertNil(try map.state.estimate)
        XCTAssertEqual(try map.facts.first, ["Position", "none"])
        let reason = try map.page.evaluate("document.getElementById('diagnosis').dataset.reason", as: String.self)
        XCTAssertEqual(reason, "unknownBeacons")
        let text = try map.text(of: "#diagnosis")
        XCTAssertTrue(text.contains("beacons"), text)
        // It names the beacons that it hears, which the table lists too.
        let listed = try map.page.evaluate(
            "[...document.querySelectorAll('#beacons tr.unknown')].map((row) => row.dataset.beacon)", as: [String].self)
        XCTAssertFalse(listed.isEmpty)
        XCTAssertTrue(listed.contains { text.contains($0) }, "\(listed) in \(text)")
        XCTAssertEqual(map.page.problems, [])
    }

    func testABeaconHasItsAddressOrItsInstanceAsNameIfItHasNoMajorAndMinor() throws {
        let map = try view("identities/walk.jsonl.gz", venue: "identities")
        try seek(map, to: 0.5)
        let names = try map.page.evaluate(
            "[...document.querySelectorAll('#beacons tbody tr')].map((row) => row.cells[0].textContent)",
            as: [String].self)
        let packet = try VenuePacketReader().read("Fixtures/identities").venue
        func known(_ naming: BeaconNaming, _ name: (BeaconIdentity) -> String?) -> Set<String> {
            Set(packet.beacons.filter { $0.naming == naming }.compactMap { name($0.identity) })
        }
        let kinds = [
            known(.address) { $0.derivedAddress?.description }, known(.eddystoneUID) { $0.eddystoneInstance },
            known(.uuid) { "\($0.major)/\($0.minor)" },
        ]
        for kind in kinds { XCTAssertFalse(kind.isDisjoint(with: names), "\(kind) in \(names)") }
    }
}
