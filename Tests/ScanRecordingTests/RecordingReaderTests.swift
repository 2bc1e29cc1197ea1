import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import Synchronization
import XCTest

final class RecordingReaderTests: XCTestCase {
    private let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"#

    private func error(
        _ text: String, file: StaticString = #filePath, line: UInt = #line
    ) throws -> RecordingError? {
        let folder = try TemporaryFolder()
        let path = try folder.write("r.jsonl", text)
        do throws(RecordingError) {
            var reader = try RecordingReader(path: path)
            _ = try reader.readAll()
            XCTFail("read: \(text)", file: file, line: line)
            return nil
        } catch {
            XCTAssertEqual(error.file, path)
            return error
        }
    }

    private func tally(_ lines: [String]) throws -> (entries: [RecordingEntry], tally: RecordingReader.Tally) {
        let folder = try TemporaryFolder()
        let path = try folder.write("r.jsonl", ([header] + lines).joined(separator: "\n") + "\n")
        var reader = try RecordingReader(path: path, strictness: .lenient)
        let entries = try reader.readAll()
        return (Array(entries.dropFirst()), reader.tally)
    }

    // MARK: - Surveys

    func testASurveyWithTooManyReadingsIsRejected() throws {
        let sighting =
            #"{"t":1,"type":"beacon","uuid":"00000000-0000-4000-8000-000000000001","major":1,"minor":1,"rssi":-70}"#
        let folder = try TemporaryFolder()
        let lines = [header] + Array(repeating: sighting, count: 4)
        let path = try folder.write("survey.jsonl", lines.joined(separator: "\n"))
        var limits = InputLimits()
        limits.surveyReadings = 4
        XCTAssertEqual(try SurveyRecording.read(path, strictness: .strict, limits: limits).recording.sightings.count, 4)
        limits.surveyReadings = 3
        XCTAssertThrowsError(try SurveyRecording.read(path, strictness: .strict, limits: limits)) { error in
            XCTAssertEqual(
                "\(error)",
                "\(path):5: exceeds the limit of 3 sightings and places for a survey. "
                    + "Split the recording into several.")
        }
    }

    func testATruthWithARoomOnlyEndsAStay() throws {
        let folder = try TemporaryFolder()
        let lines = [
            header,
            #"{"t":0,"type":"truth","mapId":1,"x":3,"y":5,"hold":true}"#,
            #"{"t":0,"type":"truth","room":"Office 1"}"#,
            #"{"t":10,"type":"truth","room":"Far room"}"#,
            #"{"t":20,"type":"truth","room":"Hall"}"#,
            #"{"t":30,"type":"truth","mapId":1,"x":4,"y":5,"hold":true}"#,
            #"{"t":40,"type":"truth","mapId":1,"x":6,"y":5}"#,
            #"{"t":45,"type":"truth","room":"Hall"}"#,
            #"{"t":50,"type":"truth","mapId":1,"x":8,"y":5}"#,
        ]
        let path = try folder.write("survey.jsonl", lines.joined(separator: "\n"))
        let survey = try SurveyRecording(path: path)
        XCTAssertEqual(survey.waypoints.map(\.point.x), [3, 4, 6, 8])
        XCTAssertEqual(survey.waypoints.map { $0.leftAt?.seconds }, [10, nil, nil, nil])
        XCTAssertEqual(
            [0, 10, 10.5, 29, 35, 45].map { survey.waypoints.place(at: $0)?.point.x }, [3, 3, nil, nil, 4, 7])
    }

    // MARK: - The file

    func testAMissingFileIsAnErrorThatNamesIt() throws {
        do throws(RecordingError) {
            _ = try RecordingReader(path: "/nowhere/walk.jsonl")
            XCTFail("opened")
        } catch {
            guard case .unreadable = error.problem else { return XCTFail("\(error)") }
            XCTAssertTrue(error.description.hasPrefix("/nowhere/walk.jsonl: cannot be read: "), error.description)
        }
    }

    func testAnErrorContainsTheReasonOfTheSystem() throws {
        let folder = try TemporaryFolder()
        for (path, reason) in [
            (folder.path + "/missing", "No such file or directory"), (folder.path, "Is a directory"),
            // libarchive would read standard input for an empty path.
            ("", "the path is empty"),
        ] {
            do throws(RecordingError) {
                var reader = try RecordingReader(path: path)
                _ = try reader.next()
                XCTFail("read \(path)")
            } catch { XCTAssertEqual(error.problem, .unreadable(reason)) }
        }
        for (path, reason) in [(folder.path + "/a/b", "No such file or directory"), ("", "the path is empty")] {
            do throws(RecordingError) {
                _ = try RecordingWriter(path: path)
                XCTFail("written \(path)")
            } catch { XCTAssertEqual(error.problem, .unwritable(reason)) }
        }
    }

    func testAnEmptyFileIsNotARecording() throws {
        XCTAssertEqual(try error("")?.problem, .empty)
        XCTAssertEqual(try error("\n \n")?.problem, .empty)
    }

    func testEvenALenientReaderRejectsAFileWithoutAHeader() throws {
        let step = #"{"t":0,"type":"step"}"#
        XCTAssertEqual(try error(step)?.problem, .notARecording)
        XCTAssertEqual(try error(#"{"type":"header","format":"other","version":1}"#)?.problem, .notARecording)
        let folder = try TemporaryFolder()
        let path = try folder.write("r.jsonl", step + "\n" + header)
        var reader = try RecordingReader(path: path, strictness: .lenient)
        XCTAssertThrowsError(try reader.next())
        XCTAssertNil(try reader.next(), "the reader returns nothing after an error")
    }

    func testANewerVersionIsRejected() throws {
        let error = try XCTUnwrap(
            try error(#"{"type":"header","format":"indoor-localization-recording","version":2}"#))
        XCTAssertEqual(error.problem, .unsupportedVersion(2))
        XCTAssertEqual(error.field, "version")
        XCTAssertEqual(error.line, 1)
        XCTAssertTrue(
            error.description.hasSuffix(
                ":1: field `version` is 2. This package reads versions 1 to 1: update the package."),
            error.description)
    }

    func testASecondHeaderIsAnError() throws {
        XCTAssertEqual(try error(header + "\n" + header)?.problem, .repeatedHeader)
    }

    func testTheContentAndNotTheNameIdentifiesACompressedFile() throws {
        let folder = try TemporaryFolder()
        let compressed = folder.path + "/a.jsonl.gz"
        var writer = try RecordingWriter(path: compressed)
        try writer.write(.step(Step(instant: Instant(seconds: 1))))
        try writer.close()
        let misnamed = folder.path + "/b.jsonl"
        try FileManager.default.moveItem(atPath: compressed, toPath: misnamed)
        var reader = try RecordingReader(path: misnamed)
        XCTAssertEqual(try reader.readAll().count, 2)

        let plain = try folder.write("c.jsonl.gz", header + "\n")
        var plainReader = try RecordingReader(path: plain)
        XCTAssertEqual(try plainReader.readAll().count, 1)
    }

    func testATruncatedCompressedFileIsReadUpToItsEndWhenLenient() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a.jsonl.gz"
        var generator = SeededGenerator(seed: 1)
        var writer = try RecordingWriter(path: path)
        for index in 0..<20_000 {
            let pressure = 1000 + generator.uniform()
            try writer.write(
                .pressure(PressureSample(instant: Instant(seconds: Double(index)), hectopascals: pressure)))
        }
        try writer.close()
        let bytes = try folder.bytes("a.jsonl.gz")
        try Data(bytes.prefix(bytes.count / 2)).write(to: URL(filePath: path))

        for strictness in [RecordingReader.Strictness.strict, .lenient] {
            var reader = try RecordingReader(path: path, strictness: strictness)
            var count = 0
            var thrown: RecordingError?
            do throws(RecordingError) { while try reader.next() != nil { count += 1 } } catch { thrown = error }
            XCTAssertGreaterThan(count, 5000)
            XCTAssertEqual(thrown == nil, strictness == .lenient)
            guard case .unreadable = (thrown ?? reader.tally.errors.first)?.problem else {
                return XCTFail("\(reader.tally)")
            }
        }
    }

    func testALenientReaderReturnsAllLinesBeforeADamage() throws {
        let folder = try TemporaryFolder()
        var (bytes, _) = try members(folder)
        // The checksum behind the last line.
        bytes[bytes.count - 8] ^= 1
        let path = folder.path + "/damaged.jsonl.gz"
        try Data(bytes).write(to: URL(filePath: path))
        let (strict, lenient) = (try read(path, .strict), try read(path, .lenient))
        XCTAssertEqual(strict.count, 2, "the lines of the first member")
        XCTAssertEqual(lenient.count, strict.count)
        XCTAssertNotNil(strict.error)
        XCTAssertEqual(lenient.error, strict.error)
    }

    /// Returns the number of entries before an error, and the error.
    private func read(
        _ path: String, _ strictness: RecordingReader.Strictness
    ) throws -> (count: Int, error: RecordingError?) {
        var reader = try RecordingReader(path: path, strictness: strictness)
        var count = 0
        do throws(RecordingError) { while try reader.next() != nil { count += 1 } } catch { return (count, error) }
        return (count, nil)
    }

    /// The bytes of a compressed recording of two members, as a writer stores it that was flushed in between, and where
    /// the second one begins.
    private func members(_ folder: TemporaryFolder) throws -> (bytes: [UInt8], second: Int) {
        var writer = try RecordingWriter(path: folder.path + "/members.jsonl.gz")
        try writer.write(.step(Step(instant: Instant(seconds: 1))))
        try writer.checkpoint()
        let second = try folder.bytes("members.jsonl.gz").count
        for second in [2.0, 3] { try writer.write(.step(Step(instant: Instant(seconds: second)))) }
        try writer.close()
        return (try folder.bytes("members.jsonl.gz"), second)
    }

    private func entries(_ bytes: [UInt8], in folder: TemporaryFolder) throws -> [RecordingEntry] {
        let path = folder.path + "/walk.jsonl.gz"
        try Data(bytes).write(to: URL(filePath: path))
        var reader = try RecordingReader(path: path)
        return try reader.readAll()
    }

    func testACompressedFileMayHaveSeveralMembersAndZerosBehindThem() throws {
        let folder = try TemporaryFolder()
        let (bytes, _) = try members(folder)
        XCTAssertEqual(try entries(bytes, in: folder).count, 4)
        XCTAssertEqual(try entries(bytes + [UInt8](repeating: 0, count: 512), in: folder).count, 4)
        XCTAssertThrowsError(try entries(bytes + [1, 2, 3], in: folder)) { error in
            XCTAssertTrue("\(error)".contains("the file is damaged: other bytes follow"), "\(error)")
        }
    }

    func testAnyChangedBitOfACompressedFileIsAnErrorOrChangesNoEntry() throws {
        let folder = try TemporaryFolder()
        let (bytes, second) = try members(folder)
        let whole = try entries(bytes, in: folder)
        // The flags, the time and the system in each header, and the bits behind the last block, concern no content.
        let rest = [0, second].flatMap { Array(($0 + 3)...($0 + 9)) } + [second - 9, bytes.count - 9]
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                do {
                    let found = try entries(changed, in: folder)
                    XCTAssertEqual(found, whole, "bit \(bit) of byte \(index)")
                    XCTAssertTrue(rest.contains(index), "bit \(bit) of byte \(index)")
                } catch { XCTAssertTrue(error is RecordingError, "\(error)") }
            }
        }
    }

    func testAWrongChecksumOrLengthOfACompressedFileIsNamed() throws {
        let folder = try TemporaryFolder()
        let (bytes, second) = try members(folder)
        for (end, change, words) in [
            (bytes.count, 0..<8, "the checksum of the compressed data is wrong"),
            (bytes.count, 4..<8, "the length of the compressed data is wrong"),
            (second, 0..<4, "the checksum of the compressed data is wrong"),
        ] {
            var damaged = bytes
            for index in change { damaged[end - 8 + index] = 0 }
            XCTAssertThrowsError(try entries(damaged, in: folder), words) { error in
                XCTAssertTrue("\(error)".contains("cannot be read: the file is damaged: \(words)"), "\(error)")
            }
        }
    }

    // MARK: - Lines

    func testAnInvalidLineReportsItsNumberFieldAndProblem() throws {
        let uuid = "7C2F0A10-0000-4000-8000-000000000003"
        let beacon = #""type":"beacon","uuid":"\#(uuid)""#
        let cases: [(String, String?, RecordingError.Problem)] = [
            (#"{"t":0"#, nil, .malformedJSON(column: 7, reason: "expected ',' or '}'")),
            (#"{"t":0}"#, "type", .missingField),
            (#"{"t":0,"type":1}"#, "type", .wrongType(expected: "a string")),
            (#"{"type":"step"}"#, "t", .missingField),
            (#"{"t":null,"type":"step"}"#, "t", .missingField),
            (#"{"t":"0","type":"step"}"#, "t", .wrongType(expected: "a number")),
            (#"{"t":1e999,"type":"step"}"#, "t", .outOfRange(value: "inf", allowed: "-9.2e9 to 9.2e9")),
            (#"{"t":0,"t":1,"type":"step"}"#, "t", .duplicateField),
            (#"{"t":0,"type":"step","length":11}"#, "length", .outOfRange(value: "11", allowed: "0 to 10")),
            (
                #"{"t":0,"type":"step","heading":-1}"#, "heading",
                .outOfRange(value: "-1", allowed: "0 to 359.99999999999994")
            ),
            (#"{"t":0,\#(beacon),"minor":0,"rssi":-1}"#, "major", .missingField),
            (
                #"{"t":0,\#(beacon),"major":65536,"minor":0,"rssi":-1}"#, "major",
                .outOfRange(value: "65536", allowed: "0 to 65535")
            ),
            (
                #"{"t":0,\#(beacon),"major":0,"minor":-1,"rssi":-1}"#, "minor",
                .outOfRange(value: "-1", allowed: "0 to 65535")
            ),
            (#"{"t":0,\#(beacon),"major":0.5,"minor":0,"rssi":-1}"#, "major", .wrongType(expected: "a whole number")),
            (#"{"t":0,\#(beacon),"major":0,"minor":0}"#, "rssi", .missingField),
            (
                #"{"t":0,\#(beacon),"major":0,"minor":0,"rssi":-700}"#, "rssi",
                .outOfRange(value: "-700", allowed: "-128 to 127")
            ),
            (
                #"{"t":0,"type":"beacon","uuid":"7C2F","major":0,"minor":0,"rssi":-1}"#, "uuid",
                .wrongType(expected: "a UUID of 32 hexadecimal digits")
            ),
            (
                #"{"t":0,\#(beacon),"major":0,"minor":0,"rssi":-1,"address":"x"}"#, "address",
                .wrongType(expected: "six hexadecimal pairs with colons")
            ),
            (#"{"t":0,"type":"advertisement","rssi":-1,"data":""}"#, "address", .missingField),
            (
                #"{"t":0,"type":"advertisement","address":"00:00:00:00:00:01","rssi":-1,"data":"ABC"}"#, "data",
                .wrongType(expected: "a string of hexadecimal pairs")
            ),
            (
                #"{"t":0,"type":"advertisement","address":"00:00:00:00:00:01","rssi":-1,"data":"0G"}"#, "data",
                .wrongType(expected: "a string of hexadecimal pairs")
            ),
            (
                #"{"t":0,"type":"advertisement","address":"00:00:00:00:00:01","addressType":"x","rssi":-1,"data":""}"#,
                "addressType", .wrongType(expected: "\"public\" or \"random\"")
            ),
            (
                #"{"t":0,"type":"motion","acceleration":[1,2]}"#, "acceleration",
                .wrongType(expected: "an array of 3 numbers")
            ),
            (
                #"{"t":0,"type":"motion","rotationRate":[1,2,3,4]}"#, "rotationRate",
                .wrongType(expected: "an array of 3 numbers")
            ),
            (
                #"{"t":0,"type":"motion","magneticField":[1,"2",3]}"#, "magneticField",
                .wrongType(expected: "an array of 3 numbers")
            ),
            (
                #"{"t":0,"type":"motion","attitude":[2,0,0,0]}"#, "attitude",
                .outOfRange(value: "a quaternion of length 2", allowed: "a unit quaternion")
            ),
            (#"{"t":0,"type":"motion","attitude":[]}"#, "attitude", .wrongType(expected: "an array of 4 numbers")),
            (#"{"t":0,"type":"pressure"}"#, "hPa", .missingField),
            (#"{"t":0,"type":"pressure","hPa":101325}"#, "hPa", .outOfRange(value: "101325", allowed: "100 to 2000")),
            (
                #"{"t":0,"type":"gnss","latitude":91,"longitude":0,"accuracy":1}"#, "latitude",
                .outOfRange(value: "91", allowed: "-90 to 90")
            ),
            (
                #"{"t":0,"type":"gnss","latitude":0,"longitude":181,"accuracy":1}"#, "longitude",
                .outOfRange(value: "181", allowed: "-180 to 180")
            ),
            (#"{"t":0,"type":"gnss","latitude":0,"longitude":0}"#, "accuracy", .missingField),
            (
                #"{"t":0,"type":"gnss","latitude":0,"longitude":0,"accuracy":1,"speed":-1}"#, "speed",
                .outOfRange(value: "-1", allowed: "0 to 1000000")
            ),
            (
                #"{"t":0,"type":"gnss","latitude":0,"longitude":0,"accuracy":1,"course":true}"#, "course",
                .wrongType(expected: "a number")
            ),
            (#"{"t":0,"type":"fix","mapId":1,"x":0,"y":0}"#, "radius", .missingField),
            (#"{"t":0,"type":"fix","mapId":"1","x":0,"y":0,"radius":1}"#, "mapId", .wrongType(expected: "a number")),
            (
                #"{"t":0,"type":"fix","mapId":1,"x":0,"y":-1000001,"radius":1}"#, "y",
                .outOfRange(value: "-1000001", allowed: "-1000000 to 1000000")
            ),
            (
                #"{"t":0,"type":"truth","mapId":1,"x":1e6,"y":1.5e6}"#, "y",
                .outOfRange(value: "1500000", allowed: "-1000000 to 1000000")
            ),
            (#"{"t":0,"type":"truth"}"#, "mapId", .missingField),
            (#"{"t":0,"type":"truth","mapId":1,"x":0}"#, "y", .missingField),
            (#"{"t":0,"type":"truth","room":"a","x":0,"y":0}"#, "mapId", .missingField),
            (#"{"t":0,"type":"truth","room":"a","hold":"yes"}"#, "hold", .wrongType(expected: "true or false")),
            (#"{"t":0,"type":"range","distance":1,"technology":"uwb"}"#, "anchor", .missingField),
            (#"{"t":0,"type":"range","anchor":"A","technology":"uwb"}"#, "distance", .missingField),
            (#"{"t":0,"type":"range","anchor":"A","distance":1}"#, "technology", .missingField),
            (
                #"{"t":0,"type":"range","anchor":"","distance":1,"technology":"uwb"}"#, "anchor",
                .wrongType(expected: "a string of 1 to 128 bytes")
            ),
            (
                #"{"t":0,"type":"range","anchor":"A","distance":1e5,"technology":"uwb"}"#, "distance",
                .outOfRange(value: "100000", allowed: "-100 to 10000")
            ),
            (
                #"{"t":0,"type":"range","anchor":"A","distance":1,"deviation":0,"technology":"uwb"}"#, "deviation",
                .outOfRange(value: "0", allowed: "0.0001 to 1000")
            ),
            (#"{"t":-1,"type":"step"}"#, "t", .timeWentBackwards(from: 0, to: -1)),
        ]
        for (line, field, problem) in cases {
            let text = [header, #"{"t":0,"type":"step"}"#, line].joined(separator: "\n")
            let error = try XCTUnwrap(try error(text))
            XCTAssertEqual(error.problem, problem, line)
            XCTAssertEqual(error.field, field, line)
            XCTAssertEqual(error.line, 3, line)
        }
    }

    func testAnErrorStatesTheProblemThePositionAndWhatToDo() {
        let error = RecordingError(
            file: "walk.jsonl", line: 7, field: "hPa", problem: .outOfRange(value: "101325", allowed: "100 to 2000"))
        XCTAssertEqual(
            error.description,
            "walk.jsonl:7: field `hPa` is 101325; expected 100 to 2000. "
                + "Correct the value and its unit, or read leniently to skip such lines.")
    }

    func testALenientReaderSkipsAndCountsInvalidLinesAndReturnsTheRest() throws {
        let long = String(repeating: " ", count: LineBuffer.maximumLineLength + 1)
        let (entries, tally) = try tally([
            #"{"t":1,"type":"step"}"#, "nonsense", #"{"t":0.5,"type":"step"}"#, long + "x", #"{"t":2,"type":"step"}"#,
            header,
        ])
        XCTAssertEqual(entries.map(\.instant), [Instant(seconds: 1), Instant(seconds: 2)])
        XCTAssertEqual(tally.skippedLines, 4)
        XCTAssertEqual(tally.errors.map(\.line), [3, 4, 5, 7])
        XCTAssertEqual(tally.lines, 7)
    }

    func testALenientReaderSkipsOnlyTheLineThatIsFarAhead() throws {
        let (entries, tally) = try tally([1, 100, 2, 3, 4].map { #"{"t":\#($0),"type":"step"}"# })
        XCTAssertEqual(entries.compactMap { $0.instant?.seconds }, [1, 2, 3, 4])
        XCTAssertEqual(tally.skippedLines, 1)
        XCTAssertEqual(tally.errors.map(\.line), [3])
        XCTAssertEqual(tally.errors.map(\.problem), [.timeWentBackwards(from: 100, to: 2)])
    }

    func testTheLinesAroundShowALenientReaderWhichOneIsOutOfOrder() throws {
        let cases: [(times: [Double], kept: [Double])] = [
            ([100, 1, 2], [1, 2]), ([1, 3, 2, 4], [1, 3, 4]), ([1, 100, 3, 2, 4], [1, 3, 4]),
            ([5, 10, 7, 3, 11], [5, 10, 11]), ([1, 2, 100], [1, 2, 100]), ([1, 3, 2], [1, 3]), ([1, 2, 0, 0], [1, 2]),
        ]
        for (times, kept) in cases {
            let (entries, tally) = try tally(times.map { #"{"t":\#($0),"type":"step"}"# })
            XCTAssertEqual(entries.compactMap { $0.instant?.seconds }, kept, "\(times)")
            XCTAssertEqual(tally.skippedLines, times.count - kept.count, "\(times)")
        }
    }

    func testOnlyTheFirstErrorsAreKept() throws {
        let (_, tally) = try tally(Array(repeating: "x", count: 1000))
        XCTAssertEqual(tally.skippedLines, 1000)
        XCTAssertEqual(tally.errors.count, RecordingReader.Tally.maximumErrors)
    }

    func testAnInvalidLineDoesNotAdvanceTheTime() throws {
        let (entries, _) = try tally([#"{"t":100,"type":"pressure","hPa":1}"#, #"{"t":1,"type":"step"}"#])
        XCTAssertEqual(entries.map(\.instant), [Instant(seconds: 1)])
    }

    func testUnknownTypesAreCountedAndUnknownFieldsIgnored() throws {
        let (entries, tally) = try tally([
            #"{"type":"weather","sun":true}"#, #"{"t":1,"type":"step","shoe":{"size":[42]},"length":null}"#,
            #"{"t":2,"type":"a type whose name is rather long"}"#, #"{"t":2,"type":""}"#,
            #"{"t":2,"type":"radio","status":"a status of tomorrow"}"#,
        ])
        XCTAssertEqual(entries, [.measurement(.step(Step(instant: Instant(seconds: 1))))])
        XCTAssertEqual(tally.unknownTypes, 4)
        XCTAssertEqual(tally.skippedLines, 0)
    }

    func testAnRSSIThatIsNotAMeasurementIsDroppedAndCounted() throws {
        let lines = [127, 0, 3, -128, -127, -1].map {
            #"{"t":0,"type":"beacon","uuid":"7C2F0A10-0000-4000-8000-000000000003","major":1,"minor":2,"rssi":\#($0)}"#
        }
        let (entries, tally) = try tally(
            lines + [#"{"t":0,"type":"advertisement","address":"00:00:00:00:00:01","rssi":127,"data":""}"#])
        XCTAssertEqual(entries.count, 2)
        XCTAssertEqual(tally.droppedNotMeasurements, 5)
        XCTAssertEqual(tally.skippedLines, 0)
    }

    func testWindowsNewlinesAndEmptyLinesAreAccepted() throws {
        let folder = try TemporaryFolder()
        let text = header + "\r\n\r\n" + #"{"t":1,"type":"step"}"# + "\r\n"
        var reader = try RecordingReader(path: try folder.write("r.jsonl", text))
        XCTAssertEqual(try reader.readAll().count, 2)
    }

    func testAnEscapedNameIsTheSameField() throws {
        let (entries, _) = try tally([#"{"\u0074":1,"type":"st\u0065p"}"#])
        XCTAssertEqual(entries.map(\.instant), [Instant(seconds: 1)])
    }

    func testInputsThatOnceCrashedTheDecoderNoLongerTrap() throws {
        for path in try FixtureFolder("crashes").files() {
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            var decoder = RecordDecoder()
            XCTAssertThrowsError(try decoder.decode(bytes.span), path)
        }
    }
}

final class RecordingSourceTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private func advertisement(_ seconds: Double) throws -> Advertisement {
        Advertisement(
            instant: Instant(seconds: seconds), address: DeviceAddress(rawValue: 5, kind: .random), rssi: -60,
            data: try BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59).advertisingData())
    }

    private func readings(of entries: [RecordingEntry]) async throws -> [SensorReading] {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.jsonl.gz"
        var writer = try RecordingWriter(path: path)
        for entry in entries { try writer.write(entry) }
        try writer.close()
        var readings: [SensorReading] = []
        for try await reading in RecordingSource(path: path).readings() { readings.append(reading) }
        return readings
    }

    func testARecordingReadsItsWallClockFromItsHeader() async throws {
        let texts: [(String?, Int64?)] = [
            ("2025-03-04T05:06:07Z", 1_741_064_767_000), ("2025-03-04T05:06:07.250Z", 1_741_064_767_250),
            ("2025-03-04T05:06:07+01:00", 1_741_061_167_000), ("yesterday", nil), (nil, nil),
        ]
        for (text, milliseconds) in texts {
            let folder = try TemporaryFolder()
            let path = folder.path + "/r.jsonl"
            var writer = try RecordingWriter(path: path, header: RecordingHeader(startedAt: text))
            try writer.write(.measurement(.step(Step(instant: Instant(seconds: 1)))))
            try writer.close()
            let source = RecordingSource(path: path)
            XCTAssertNil(source.wallClock, "the source has read nothing yet")
            for try await reading in source.readings() {
                XCTAssertEqual(
                    source.wallClock?.unixTime(at: reading.instant).milliseconds, milliseconds.map { $0 + 1000 },
                    text ?? "none")
            }
            let readings = try RecordedReadings(path: path, strictness: .strict)
            _ = try readings.next()
            XCTAssertEqual(readings.wallClock, source.wallClock)
        }
    }

    func testACaptureReadsItsWallClockFromItsFirstRecord() async throws {
        for (start, milliseconds) in [(1_741_064_767_250_000, 1_741_064_768_250), (BTSnoopWriter.unknownStart, nil)]
            as [(Int64, Int64?)]
        {
            let folder = try TemporaryFolder()
            let path = folder.path + "/r.btsnoop"
            var writer = try BTSnoopWriter(path: path, startMicroseconds: start)
            try writer.write(.advertisement(try advertisement(0)))
            try writer.write(.advertisement(try advertisement(1)))
            try writer.close()
            let source = BTSnoopSource(path: path)
            XCTAssertNil(source.wallClock, "the source has read nothing yet")
            for try await _ in source.readings() {}
            XCTAssertEqual(source.wallClock?.unixTime(at: Instant(seconds: 1)).milliseconds, milliseconds)
        }
    }

    func testASourceNeverEmitsGroundTruth() async throws {
        let step = SensorReading.step(Step(instant: Instant(seconds: 1)))
        let truth = Truth(instant: .zero, mapID: 1, point: MapPoint(x: 1, y: 1))
        let emitted = try await readings(of: [.truth(truth), .measurement(step)])
        XCTAssertEqual(emitted, [step])
    }

    func testASourceEmitsTheSightingAfterABeaconsAdvertisement() async throws {
        let advertisement = try advertisement(1)
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let emitted = try await readings(of: [.measurement(.advertisement(advertisement))])
        XCTAssertEqual(emitted, [.advertisement(advertisement), .sighting(sighting)])
    }

    func testASightingRecordedAfterItsAdvertisementIsEmittedOnce() async throws {
        let advertisement = try advertisement(1)
        let sighting = try XCTUnwrap(try advertisement.sighting())
        var later = sighting
        later.instant = Instant(seconds: 2)
        let once: [SensorReading] = [.advertisement(advertisement), .sighting(sighting), .sighting(later)]
        let emitted = try await readings(of: once.map(RecordingEntry.measurement))
        XCTAssertEqual(emitted, once, "a recording of a source emits the same readings as the source")
    }

    func testAMalformedAdvertisementContainsNoSighting() async throws {
        var advertisement = try advertisement(1)
        advertisement.data.removeLast()
        let emitted = try await readings(of: [.measurement(.advertisement(advertisement))])
        XCTAssertEqual(emitted, [.advertisement(advertisement)])
    }

    func testTheErrorOfAnInvalidLineEndsTheStream() async throws {
        let folder = try TemporaryFolder()
        let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"#
        let path = try folder.write("r.jsonl", header + "\n" + #"{"t":0,"type":"step"}"# + "\nx\n")
        var count = 0
        do {
            for try await _ in RecordingSource(path: path).readings() { count += 1 }
            XCTFail("no error")
        } catch let error as RecordingError {
            XCTAssertEqual(error.line, 3)
        }
        XCTAssertEqual(count, 1)

        let tally = Mutex<RecordingReader.Tally?>(nil)
        let lenient = RecordingSource(path: path, strictness: .lenient) { end in tally.withLock { $0 = end } }
        for try await _ in lenient.readings() {}
        XCTAssertEqual(tally.withLock { $0?.skippedLines }, 1)
    }

    func testTheStreamOfAMissingFileThrows() async {
        do {
            for try await _ in RecordingSource(path: "/nowhere/r.jsonl").readings() {}
            XCTFail("no error")
        } catch {
            XCTAssertTrue(error is RecordingError, "\(error)")
        }
    }

    func testEachStreamStartsAtTheBeginning() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.jsonl"
        var writer = try RecordingWriter(path: path)
        for second in 0..<3 { try writer.write(.step(Step(instant: Instant(seconds: Double(second))))) }
        try writer.close()
        let source = RecordingSource(path: path)
        XCTAssertEqual(source.pace, .recorded)
        for _ in 0..<2 {
            var count = 0
            for try await _ in source.readings() { count += 1 }
            XCTAssertEqual(count, 3)
        }
    }
}

/// The error kinds by which programs distinguish errors in recordings.
final class RecordedErrorKindTests: XCTestCase {
    func testErrorsOfRecordingsAndCapturesHaveTheirKinds() {
        let recordings: [(RecordingError.Problem, LocalizationError.Kind)] = [
            (.unsupportedVersion(2), .versionMismatch), (.unreadable("no"), .storage), (.unwritable("no"), .storage),
            (.empty, .badResponse), (.missingField, .badResponse),
        ]
        for (problem, kind) in recordings { XCTAssertEqual(RecordingError(file: "x", problem: problem).kind, kind) }
        let captures: [(BTSnoopError.Problem, LocalizationError.Kind)] = [
            (.unsupportedVersion(2), .versionMismatch), (.unreadable("no"), .storage),
            (.unsupportedDatalink(7), .notSupported), (.notACapture, .badResponse),
        ]
        for (problem, kind) in captures { XCTAssertEqual(BTSnoopError(file: "x", problem: problem).kind, kind) }
    }

    func testARecordingWithAForeignTraceIDIsReadable() throws {
        let folder = try TemporaryFolder()
        for (text, expected) in [(#""xyz""#, nil), (#""ab12""#, TraceID(rawValue: 0xAB12))] {
            let header = #"{"type":"header","format":"indoor-localization-recording","version":1,"traceId":\#(text)}"#
            var reader = try RecordingReader(path: try folder.write("walk.jsonl", header + "\n"))
            guard case .header(let read)? = try reader.next() else { return XCTFail(text) }
            XCTAssertEqual(read.traceID, expected)
        }
    }

    /// A session that cannot read its recording ends with the error of the recording.
    func testASessionKeepsTheKindOfARecordingError() async throws {
        let folder = try TemporaryFolder()
        let header = #"{"type":"header","format":"indoor-localization-recording","version":99}"#
        let path = try folder.write("new.jsonl", header + "\n")
        let localizer = Localizer(source: RecordingSource(path: path), venues: VenueLibrary([]))
        let errors = localizer.errors
        await localizer.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .critical)
        XCTAssertEqual(error.kind, .versionMismatch)
    }
}
