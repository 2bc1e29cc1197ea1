import FoundationEssentials
import ScanRecording
import XCTest

final class ConstantMemoryTests: XCTestCase {
    func testTwentyMegabytesAreReadInConstantMemory() throws {
        let folder = try TemporaryFolder()
        let line =
            #"{"t":1,"type":"motion","acceleration":[0.1,0.2,9.8],"unknown":"\#(String(repeating: "x", count: 900))"}"#
        let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"#
        let path = try folder.write("long.jsonl", header + "\n" + String(repeating: line + "\n", count: 21_000))
        XCTAssertGreaterThan(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0, 20_000_000)

        var reader = try RecordingReader(path: path)
        for _ in 0..<500 { _ = try reader.next() }
        let before = try ResidentMemory.kibibytes()
        var peak = before
        var count = 500
        while try reader.next() != nil {
            count += 1
            if count % 500 == 0 { peak = max(peak, try ResidentMemory.kibibytes()) }
        }
        XCTAssertEqual(count, 21_001)
        // A reader that kept the file or the entries would add several thousand KiB; this one adds a page or two.
        XCTAssertLessThan(peak - before, 1024, "KiB more than after the first 500 entries")
    }
}
