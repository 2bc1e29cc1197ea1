import Foundation
import XCTest

extension XCTestCase {
    /// Compares a text with `Fixtures/snapshots/<test name>.txt`; with UPDATE_SNAPSHOTS=1 it becomes the snapshot.
    func assertSnapshot(_ text: String, test: String = #function, file: StaticString = #filePath, line: UInt = #line)
        throws
    {
        let name = test.replacing("()", with: "") + ".txt"
        let folder = try Checkout.root().appending(path: "Fixtures/snapshots")
        let snapshot = folder.appending(path: name)
        if ProcessInfo.processInfo.environment["UPDATE_SNAPSHOTS"] == "1" {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: snapshot)
            return
        }
        guard let kept = try? Data(contentsOf: snapshot) else {
            return XCTFail("\(snapshot.path) is missing: make it with UPDATE_SNAPSHOTS=1", file: file, line: line)
        }
        XCTAssertEqual(
            text, String(decoding: kept, as: UTF8.self),
            "differs from \(name); if that is wanted, write it again with UPDATE_SNAPSHOTS=1", file: file, line: line)
    }
}

final class SnapshotTests: XCTestCase {
    func testEverySnapshotIsThatOfATest() throws {
        let root = try Checkout.root()
        // The tests of `indoorloc-fleet` have snapshots in the same folder.
        let sources = try ["Tests/CommandLineTests", "Tests/FleetTests"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(
                at: root.appending(path: folder), includingPropertiesForKeys: nil
            ).filter { $0.pathExtension == "swift" }
        }
        let text = try sources.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let snapshots = try FileManager.default.contentsOfDirectory(
            atPath: root.appending(path: "Fixtures/snapshots").path)
        XCTAssertFalse(snapshots.isEmpty)
        for name in snapshots {
            XCTAssertTrue(name.hasSuffix(".txt"), name)
            XCTAssertTrue(text.contains("func \(name.dropLast(4))()"), "\(name): there is no such test")
        }
    }
}

/// The golden files in `Fixtures/golden`, with the tool of this build. `.ci/golden` compares them with more builds, threads
/// and processors.
final class GoldenTests: XCTestCase {
    private func check(_ cases: String, _ tool: String? = nil) throws -> Tool.Result {
        try Tool.run(
            ["--only", "^(\(cases))$", try tool ?? Tool.path()],
            program: Checkout.root().appending(path: "Fixtures/golden/check").path)
    }

    func testTheOutputsAreThoseOfTheGoldenFiles() throws {
        let cases = "replay-one-floor|replay-trilateration|replay-fingerprint|simulate|survey|rooms.*|route|coverage"
        let result = try check(cases)
        XCTAssertEqual(result.status, 0, "renew them with .ci/golden --renew if this is intended:\n\(result.output)")
    }

    func testAnOtherOutputIsReported() throws {
        let result = try check("route", "/bin/echo")
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(
            result.output.hasPrefix("route: the output differs from Fixtures/golden/route.txt"), result.output)
    }
}
