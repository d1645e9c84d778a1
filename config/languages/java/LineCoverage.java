// SPDX-License-Identifier: Apache-2.0
// usage: java -cp … LineCoverage.java EXEC TREE. Prints JaCoCo's counts as lcov. A line counts as run if one of its instructions ran.
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.ICounter;
import org.jacoco.core.analysis.ISourceFileCoverage;
import org.jacoco.core.tools.ExecFileLoader;

public class LineCoverage {
    public static void main(String[] arguments) throws IOException {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(new File(arguments[0]));
        CoverageBuilder found = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(loader.getExecutionDataStore(), found);
        List<Path> folders;
        try (Stream<Path> all = Files.walk(Path.of(arguments[1]))) {
            folders = all.filter(path -> path.endsWith("target/classes") && Files.isDirectory(path)).collect(Collectors.toList());
        }
        try {
            for (Path folder : folders) {
                analyzer.analyzeAll(folder.toFile());
            }
        } catch (IOException | RuntimeException failure) {      // JaCoCo is older than the classes, and cannot read sealed types.
            Throwable reason = failure.getCause() == null ? failure : failure.getCause();
            System.err.println("agentforge: not measured: JaCoCo cannot read a class: " + failure.getMessage() + ": " + reason.getMessage());
            System.exit(4);
        }
        StringBuilder text = new StringBuilder();
        for (ISourceFileCoverage file : found.getSourceFiles()) {
            String folder = file.getPackageName();
            text.append("SF:").append(folder.isEmpty() ? "" : folder + "/").append(file.getName()).append('\n');
            for (int line = file.getFirstLine(); line > 0 && line <= file.getLastLine(); ++line) {
                int status = file.getLine(line).getStatus();
                if (status != ICounter.EMPTY) {
                    text.append("DA:").append(line).append(',').append(status == ICounter.NOT_COVERED ? 0 : 1).append('\n');
                }
            }
            text.append("end_of_record\n");
        }
        System.out.print(text);
    }
}
